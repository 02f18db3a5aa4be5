// A small identity provider (OpenID Connect) for stories in which people sign in: whoever comes is
// the person that it was told, and agrees.
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

const CLIENT = 'copydesk'
const base64 = (text) => Buffer.from(text).toString('base64url')

/** Starts it; a server with `environment` has its people sign in here. */
export async function startIdentityProvider(roles) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const nonces = new Map()
  const provider = createServer((request, response) => {
    const url = new URL(request.url, provider.issuer)
    let body = ''
    request.on('data', (piece) => (body += piece))
    request.on('end', () => answer(url, new URLSearchParams(body), response))
  })
  const answer = (url, form, response) => {
    const json = (value) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(value))
    }
    const { issuer } = provider
    if (url.pathname === '/.well-known/openid-configuration')
      json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    else if (url.pathname === '/keys')
      json({
        keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: '1' }],
      })
    else if (url.pathname === '/authorize') {
      const asked = url.searchParams
      const code = `code-${nonces.size + 1}`
      nonces.set(code, asked.get('nonce'))
      const back = new URL(asked.get('redirect_uri'))
      back.searchParams.set('state', asked.get('state'))
      back.searchParams.set('code', code)
      response.writeHead(302, { location: back.href }).end()
    } else json({ access_token: 'opaque', token_type: 'Bearer', id_token: token(form.get('code')) })
  }
  const token = (code) => {
    const now = Math.floor(Date.now() / 1000)
    const times = { iat: now - 60, exp: now + 3600 }
    const claims = { ...provider.person, ...times, iss: provider.issuer, aud: CLIENT }
    const head = { alg: 'RS256', typ: 'JWT', kid: '1' }
    const parts = [head, { ...claims, nonce: nonces.get(code) }].map((it) => JSON.stringify(it))
    const content = parts.map(base64).join('.')
    return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`
  }
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  provider.issuer = `http://127.0.0.1:${provider.address().port}`
  return {
    /** Whoever signs in from now on is this person. */
    saysItIs(name, groups = []) {
      const sub = name.toLowerCase()
      const email = `${sub}@press.example`
      provider.person = { sub, name, email, email_verified: true, groups }
    },
    environment: {
      COPYDESK_OIDC_ISSUER: provider.issuer,
      COPYDESK_OIDC_CLIENT_ID: CLIENT,
      COPYDESK_OIDC_ROLE: roles,
    },
    stop: async () => provider.close(),
  }
}
