"""Language models behind one seam: any provider, and any OpenAI-compatible address in the own network.

    respond = open_model()                        # what $WORKBENCH_MODEL names
    checked = conversation.ask("Fade by batch", respond)

A `LanguageModel` is an author of the checked loop (`workbench.authoring.loop.Respond`). It never touches the store:
what it answers is text, and goes through the same check and the same locked process as text from anybody else.

Only `requests` imports pydantic-ai, the extra ``llm``, when the first answer is asked for.
"""

from .budget import Budget
from .choice import Chosen, chosen
from .model import LanguageModel, open_model

__all__ = ["Budget", "Chosen", "LanguageModel", "chosen", "open_model"]
