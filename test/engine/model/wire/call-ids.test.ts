import test from 'ava';
import fc from 'fast-check';
import { type CallIdForm, CallIds, shortCallIds } from '../../../../engine/model/wire/call-ids.ts';

const nine: CallIdForm = { fits: /^[a-zA-Z0-9]{9}$/, length: 9, prefix: '', strict: true };

test('ids that fit stay; others are replaced alike every time, and come back', (t) => {
  for (const form of [shortCallIds, nine]) {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 60 }), { maxLength: 30 }), (ids) => {
        const [first, second] = [new CallIds(), new CallIds()];
        const wire = ids.map((id) => first.wire(id, form));
        return (
          wire.every((id) => form.fits.test(id)) &&
          wire.every((id, at) => first.client(id) === ids[at] && first.wire(ids[at] ?? '', form) === id) &&
          wire.every((id, at) => !form.fits.test(ids[at] ?? '') || id === ids[at]) &&
          // The same in the next request of the conversation.
          ids.every((id, at) => second.wire(id, form) === wire[at])
        );
      }),
    );
  }
  t.pass();
});

test('a vendor without a form gets every id as it is', (t) => {
  t.is(new CallIds().wire('functions.read:0', undefined), 'functions.read:0');
});
