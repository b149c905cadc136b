import test from 'ava';
import { requestId } from '../../../engine/http/headers.ts';

for (const given of ['a', 'req-1_2.3:4/5', '~'.repeat(128)]) {
  test(`${given.slice(0, 20)} is taken over`, (t) => t.is(requestId(given), given));
}

for (const given of [undefined, '', 'a b', 'a\tb', 'é', 'a'.repeat(129), 'a\r\nx: y']) {
  test(`${JSON.stringify(given)?.slice(0, 20)} is replaced`, (t) => t.regex(requestId(given), /^req_[0-9a-f]{24}$/));
}

test('made ids differ', (t) => t.not(requestId(undefined), requestId(undefined)));
