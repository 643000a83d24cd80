"""The socket between a page and its kernel, without the wait for more to send: an option of ``workbench lab``."""

from __future__ import annotations

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptChannels(ZMQChannelsWebsocketConnection):
    """Jupyter's own connection with ``TCP_NODELAY`` set.

    Without it the end of a large message, as a figure is, waits until the page has confirmed the beginning, which
    costs about 40 ms by chance (Nagle's algorithm, RFC 896, against delayed acknowledgement, RFC 1122 4.2.3.2).
    """

    def connect(self) -> Any:
        self.websocket_handler.set_nodelay(True)
        return super().connect()
