import { useState } from 'react';
import { readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { readService } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { useForm } from '../../config/fields/form.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { CheckField, TextField } from '../../parts/controls/field.tsx';
import { Empty, LoadedView } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Part, settingParts } from './setting-parts.ts';

/** The settings as a form made from the configuration's schema: groups at the left, and a search. */
export const SettingGroups = () => (
  <LoadedView what="the form" of={useLoad(readConfigSchema)}>
    {(schema) => <Groups schema={schema} />}
  </LoadedView>
);

const Groups = ({ schema }: { readonly schema: JsonObject }) => {
  const { config, change } = useForm();
  const service = useLoad(readService);
  const [search, setSearch] = useState('');
  const [changedOnly, setChangedOnly] = useState(false);
  const parts = settingParts(schema, config)
    .map((part) => ({ ...part, found: namesIn(part, search, changedOnly) }))
    .filter(({ found }) => found.length > 0);
  const sourceOf = (path: string, value: Json | undefined): string => {
    const override = service.data?.overrides.find(({ field }) => field === path);
    if (override)
      return `In effect: ${override.value === undefined ? 'the value' : override.value} of ${override.variable} in the environment.`;
    return value === undefined ? '' : 'From the file.';
  };
  return (
    <div className="settings">
      <nav className="settings-groups" aria-label="Groups">
        <TextField
          label="Search the settings"
          unlabelled
          type="search"
          placeholder="Search"
          value={search}
          onChange={setSearch}
        />
        <CheckField label="Changed only" checked={changedOnly} onChange={setChangedOnly} />
        {parts.map(({ title }) => (
          <Button
            key={title}
            look="quiet"
            onClick={() => document.getElementById(idOf(title))?.scrollIntoView({ block: 'start' })}
          >
            {title}
          </Button>
        ))}
      </nav>
      <div className="stack">
        {parts.length === 0 && (
          <Empty title={changedOnly ? 'Every setting has its default' : 'No setting is found'}>
            {search !== '' && `Nothing is named or described as “${search}”.`}
          </Empty>
        )}
        {parts.map((part) => (
          <div key={part.title} id={idOf(part.title)} className="settings-group">
            <Panel title={part.title} about={part.about}>
              <SchemaForm
                schema={part.schema}
                path={part.path}
                titles={part.titles}
                value={part.value}
                sourceOf={sourceOf}
                shown={part.found}
                onChange={(next) =>
                  change((before) =>
                    part.path === ''
                      ? Object.keys(part.titles).reduce((done, field) => withMember(done, field, next[field]), before)
                      : withMember(before, part.path, Object.keys(next).length === 0 ? undefined : next),
                  )
                }
              />
            </Panel>
          </div>
        ))}
      </div>
    </div>
  );
};

const idOf = (title: string): string => `settings-${title.replaceAll(' ', '-').toLowerCase()}`;

/** The fields that a search finds by name, title or description. */
const namesIn = (part: Part, search: string, changedOnly: boolean): readonly string[] => {
  const needle = search.trim().toLowerCase();
  const properties = isJsonObject(part.schema.properties) ? part.schema.properties : {};
  return Object.entries(properties).flatMap(([name, field]) => {
    const about = isJsonObject(field) && typeof field.description === 'string' ? field.description : '';
    const texts = [part.title, name, part.path, part.titles[name] ?? '', about];
    const fits = texts.some((text) => text.toLowerCase().includes(needle));
    return fits && (!changedOnly || part.value[name] !== undefined) ? [name] : [];
  });
};
