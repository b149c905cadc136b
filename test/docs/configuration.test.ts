import { readFileSync } from 'node:fs';
import test from 'ava';
import { scenarios } from '../../engine/config/config.ts';
import { ConfigFile, LimitsFile, TimeoutsFile } from '../../engine/config/schema.ts';
import { formats, stages } from '../../transformers/index.ts';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');

test('the page on the configuration has every field, scenario and transformer', (t) => {
  const fields = [
    ...Object.keys(ConfigFile.properties).filter((name) => name !== 'LIMITS' && name !== 'TIMEOUTS'),
    ...Object.keys(LimitsFile.properties).map((name) => `LIMITS.${name}`),
    ...Object.keys(TimeoutsFile.properties).map((name) => `TIMEOUTS.${name}`),
    ...scenarios,
    ...formats.keys(),
    ...stages.keys(),
  ];
  t.deepEqual(
    fields.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});
