"""A JupyterHub beside the server, as an example: people sign in by the same provider.

Notebooks reach the server with ``wb.connect(os.environ["LAB_SERVER"], api_key=...)``. Each person uses their own key:
the hub gives nobody one.
"""

import os

c = get_config()  # noqa: F821 - JupyterHub runs this file

c.JupyterHub.bind_url = "http://127.0.0.1:8000/hub-of-the-lab/"
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = os.environ["HUB_OIDC_CLIENT"]
c.GenericOAuthenticator.client_secret = os.environ["HUB_OIDC_SECRET"]
c.GenericOAuthenticator.oauth_callback_url = "https://lab.example/hub-of-the-lab/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = os.environ["HUB_OIDC_AUTHORIZE"]
c.GenericOAuthenticator.token_url = os.environ["HUB_OIDC_TOKEN"]
c.GenericOAuthenticator.userdata_url = os.environ["HUB_OIDC_USERINFO"]
c.GenericOAuthenticator.scope = ["openid", "email"]
c.GenericOAuthenticator.username_claim = "email"
c.GenericOAuthenticator.allow_all = False
c.GenericOAuthenticator.allowed_users = set(os.environ.get("HUB_USERS", "").split())

c.Spawner.default_url = "/lab"
c.Spawner.environment = {"LAB_SERVER": "https://lab.example"}
c.Spawner.mem_limit = "4G"
c.Spawner.cmd = ["/opt/notebooks/bin/jupyterhub-singleuser"]
