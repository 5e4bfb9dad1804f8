// An OpenID Connect provider made of the npm package `oidc-provider`, which is certified by the OpenID Foundation.
//
// It takes the issuer's port, the client's id, secret and redirect URI as arguments, and prints a line when it is ready.
// Whoever signs in is known by what was typed as login, an e-mail address. It has two clients: that of the arguments, and
// one whose id ends with `-post`, which sends its secret in the body.
import { Provider } from 'oidc-provider';

const [port, id, secret, redirect] = process.argv.slice(2);
const client = { client_id: id, client_secret: secret, redirect_uris: [redirect] };
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [client, { ...client, client_id: `${id}-post`, token_endpoint_auth_method: 'client_secret_post' }],
  claims: { email: ['email', 'email_verified'], profile: ['name'] },
  cookies: { keys: ['a key of these tests'] },
  pkce: { required: () => true },
  async findAccount(context, sub) {
    return { accountId: sub, claims: async () => ({ sub, email: sub, email_verified: true, name: 'Ann Otieno' }) };
  },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
