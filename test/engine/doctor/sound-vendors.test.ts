import test from 'ava';
import { deviationsIn, examineAt, sourceOf } from '../../support/examined.ts';
import { wires } from '../../support/vendors/wires.ts';

/** Vendors that are as strict as the originals: what they refuse is never sent to them. */
for (const [name, { serve, format, options, base = '', model }] of Object.entries(wires)) {
  test(`${name}: no false alarm`, async (t) => {
    const upstream = await serve('the-secret-key');
    t.teardown(upstream.close);
    const found = await examineAt(t, sourceOf({ baseUrl: upstream.url + base, format, options, model }), model);
    t.deepEqual(deviationsIn(found), {});
    t.deepEqual(found.changes, []);
  });
}
