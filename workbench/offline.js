// What plotly.js finds in the place of the browser's own ways to fetch, so that no figure fetches: names of a module, or
// of the scripts of a page, come before those of the browser. Maps stay without what they would fetch.
class Offline extends TypeError {
  constructor(address) {
    super(`A figure of the Workbench fetches nothing: ${String(address?.url ?? address).slice(0, 80)}`);
  }
}

const fetch = (address) => Promise.reject(new Offline(address));

class XMLHttpRequest extends EventTarget {
  status = 0;
  readyState = 0;
  onload = null;
  onerror = null;
  open() {}
  abort() {}
  setRequestHeader() {}
  getResponseHeader() {
    return null;
  }
  send() {
    queueMicrotask(() => this.onerror?.(new Event("error")));
  }
}

class Worker {
  constructor(address) {
    throw new Offline(address);
  }
}

class Image {
  constructor(...size) {
    const picture = new globalThis.Image(...size);
    const { set, get } = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
    const put = (address) => {
      if (/^(data|blob):/i.test(address)) return set.call(picture, address);
      queueMicrotask(() => picture.dispatchEvent(new Event("error")));
    };
    const plain = picture.setAttribute;
    Object.defineProperty(picture, "src", { set: put, get: () => get.call(picture) });
    picture.setAttribute = (name, value) => (/^src/i.test(name) ? put(value) : plain.call(picture, name, value));
    return picture;
  }
}
