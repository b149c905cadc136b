import test from 'ava';
import { isSecretName } from '../../../../engine/observe/log/mask-text.ts';

const secret = [
  ...['authorization', 'Authorization', 'Proxy-Authorization', 'x-api-key', 'X-API-KEY', 'api-key', 'apiKey', 'APIKEY'],
  ...['api_key', 'x-goog-api-key', 'cookie', 'Set-Cookie', 'token', 'refresh_token', 'accessToken', 'client_secret'],
  ...['password', 'key', 'credentials', 'OPENAI_API_KEY'],
];
const harmless = [
  ...['max_tokens_limit', 'tokenizer', 'keys_total', 'monkey', 'keepAlive', 'author', 'path', 'model', 'sign', ''],
];

for (const name of secret) test(`${name} names a secret`, (t) => t.true(isSecretName(name)));
for (const name of harmless) test(`"${name}" names no secret`, (t) => t.false(isSecretName(name)));
