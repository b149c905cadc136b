import { readFileSync } from 'node:fs';
import test from 'ava';
import { scenarios } from '../../engine/config/config.ts';
import { ConfigFile, settingSections } from '../../engine/config/schema.ts';
import { formats, shipped, stages } from '../../transformers/index.ts';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');

const sections = Object.entries(settingSections);

test('the page on the configuration has every field, scenario and transformer', (t) => {
  const fields = [
    ...Object.keys(ConfigFile.properties).filter((name) => !sections.some(([section]) => section === name)),
    ...sections.flatMap(([section, { properties }]) => Object.keys(properties).map((name) => `${section}.${name}`)),
    ...scenarios,
    ...formats.keys(),
    ...stages.keys(),
    ...shipped,
  ];
  t.deepEqual(
    fields.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

/** `32 MiB`, `10 000` and `0.2` as numbers. */
const numberOf = (text: string): number =>
  Number(text.replaceAll(' ', '').replace('MiB', '')) * (text.endsWith('MiB') ? 1024 * 1024 : 1);

test('the page on the configuration has the default of every number', (t) => {
  const defaults = sections.flatMap(([section, { properties }]) =>
    Object.entries(properties).flatMap(([name, schema]) =>
      typeof schema.default === 'number' ? [[`${section}.${name}`, schema.default] as const] : [],
    ),
  );
  t.true(defaults.length > 20);
  for (const [name, value] of defaults) {
    const [, documented = ''] = new RegExp(`^\\|\`${name}\`\\|([^|]+)\\|`, 'm').exec(page) ?? [];
    t.is(numberOf(documented), value, name);
  }
});
