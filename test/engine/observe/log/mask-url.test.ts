import test from 'ava';
import { maskUrl, textMask } from '../../../../engine/observe/log/mask-text.ts';

const none: readonly string[] = [];
const mask = textMask(() => none);

const cases = [
  ['/v1/messages', '/v1/messages'],
  ['/v1/messages?beta=true', '/v1/messages?beta=true'],
  ['/x?api_key=abc&beta=true', '/x?api_key=***&beta=true'],
  ['/x?limit=1&api%5Fkey=abc', '/x?limit=1&api%5Fkey=***'],
  ['/x?%E0%A4%A=1&token=abc', '/x?%E0%A4%A=***&token=***'],
  ['/x?beta=1;token=abc=def', '/x?beta=1;token=***'],
  ['/x?access_token=a+b', '/x?access_token=***'],
  ['/x?q=sk-0123456789', '/x?q=***'],
  ['/sk-0123456789/x', '/***/x'],
  ['/x?', '/x?'],
  ['/x?token', '/x?token'],
  ['/x?token=', '/x?token='],
  ['/x?==token=abc&=&;=', '/x?==token=***&=&;='],
  // Only the names that are listed have values to show.
  [
    '/x?signature=a&jwt=b&code=c&session=d&sas=e&bearer=f&pwd=g',
    '/x?signature=***&jwt=***&code=***&session=***&sas=***&bearer=***&pwd=***',
  ],
  ['/x?X-Amz-Signature=a&any-other-name=b', '/x?X-Amz-Signature=***&any-other-name=***'],
  ['/v1/models?limit=20&after_id=a&API-Version=2026-10-01', '/v1/models?limit=20&after_id=a&API-Version=2026-10-01'],
  ['/x?model=sk-0123456789', '/x?model=***'],
] as const;
for (const [url, clean] of cases) test(url, (t) => t.is(maskUrl(url, mask), clean));
