// Sign-in as a host would add it: a fetch that meets a challenge with the SDK's own OAuth flow and tries again.
import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

const REDIRECT = 'http://localhost:3000/callback';
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';
const TRIES = 3;

/** Everything in memory; the authorization server's redirect is followed without a browser. */
function createProvider({ client_id, client_secret }) {
  let information = client_id ? { client_id, ...(client_secret && { client_secret }) } : undefined;
  let tokens;
  let verifier = '';
  let callback;
  return {
    redirectUrl: REDIRECT,
    clientMetadataUrl: CLIENT_METADATA_URL,
    clientMetadata: {
      client_name: 'interlock-conformance',
      redirect_uris: [REDIRECT],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    clientInformation: () => information,
    saveClientInformation: (next) => {
      information = next;
    },
    tokens: () => tokens,
    saveTokens: (next) => {
      tokens = next;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: (next) => {
      verifier = next;
    },
    redirectToAuthorization: async (authorizationUrl) => {
      const response = await fetch(authorizationUrl, { redirect: 'manual' });
      callback = new URL(response.headers.get('location') ?? '', REDIRECT).searchParams;
    },
    callback: () => callback,
  };
}

export function createSignedInFetch(serverUrl, context) {
  const provider = createProvider(context);
  let scopes = '';

  return async (url, init) => {
    for (let tries = 0; ; tries++) {
      const headers = new Headers(init?.headers);
      const tokens = provider.tokens();
      if (tokens) headers.set('authorization', `Bearer ${tokens.access_token}`);
      const response = await fetch(url, { ...init, headers });
      const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
      const stepUp = response.status === 403 && error === 'insufficient_scope';
      if ((response.status !== 401 && !stepUp) || tries === TRIES) return response;
      scopes = [...new Set([...scopes.split(' '), ...(scope ?? '').split(' ')])].join(' ').trim();
      const options = {
        serverUrl,
        resourceMetadataUrl,
        ...(scopes && { scope: scopes }),
        ...(stepUp && { forceReauthorization: true }),
      };
      if ((await auth(provider, options)) === 'AUTHORIZED') continue;
      const answer = provider.callback();
      const [authorizationCode, iss] = [answer.get('code'), answer.get('iss')];
      await auth(provider, { ...options, authorizationCode, ...(iss && { iss }) });
    }
  };
}
