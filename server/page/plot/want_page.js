// The question how a page out of the page is to be made. What asks it comes when it is wanted.

import { wanted } from "../ui/later.js";

/** Ask how a page is to be made. @param {{ at: string, values: string, asOf: string | null, name: string, several?: boolean }} given */
export const wantPage = (given) => { wanted.value = { load: () => import("./page_export.js"), of: "PageExport", ...given }; };
