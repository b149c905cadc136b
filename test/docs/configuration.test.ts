import { readFileSync } from 'node:fs';
import test from 'ava';
import { scenarios } from '../../engine/config/config.ts';
import { ConfigFile, settingSections } from '../../engine/config/schema.ts';
import { formats, stages } from '../../transformers/index.ts';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');

const sections = Object.entries(settingSections);

test('the page on the configuration has every field, scenario and transformer', (t) => {
  const fields = [
    ...Object.keys(ConfigFile.properties).filter((name) => !sections.some(([section]) => section === name)),
    ...sections.flatMap(([section, { properties }]) => Object.keys(properties).map((name) => `${section}.${name}`)),
    ...scenarios,
    ...formats.keys(),
    ...stages.keys(),
  ];
  t.deepEqual(
    fields.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});
