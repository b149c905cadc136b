import { useState } from 'react';
import { readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { readService } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { fieldTitles } from '../../config/fields/field-titles.ts';
import { useForm } from '../../config/fields/form.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { CheckField, TextField } from '../../parts/controls/field.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadedView } from '../../parts/layout/load-failed.tsx';
import { Panel } from '../../parts/layout/panel.tsx';

interface Group {
  readonly title: string;
  readonly about: string;
  /** Fields of the configuration; a single object's members are the group's fields. */
  readonly fields: readonly string[];
}

const groups: readonly Group[] = [
  {
    title: 'Listening',
    about: 'Where the gateway listens. Changes require a restart.',
    fields: ['HOST', 'PORT', 'WORKERS', 'ALLOWED_HOSTS', 'ALLOWED_ORIGINS'],
  },
  {
    title: 'Key',
    about:
      'Required from all clients, including this page, which asks for the new one after a change. $NAME takes it from the gateway’s environment, which keeps it out of config.json and its backups.',
    fields: ['APIKEY'],
  },
  {
    title: 'Behind a balancer',
    about: 'How connections of a load balancer are treated.',
    fields: ['PROXIES', 'KEEP_ALIVE'],
  },
  { title: 'Chat Completions', about: 'What Chat Completions clients may request.', fields: ['CHAT_STRICT'] },
  { title: 'Logs', about: 'What is written to the log files.', fields: ['LOG', 'LOG_LEVEL', 'GRAMMAR'] },
  { title: 'Limits', about: 'Limits per request, client and provider.', fields: ['LIMITS'] },
  { title: 'Timeouts', about: 'How long the gateway waits.', fields: ['TIMEOUTS'] },
  {
    title: 'Retries',
    about: 'When failed calls are retried. A response that has started is never retried.',
    fields: ['RETRY'],
  },
  { title: 'Breakers', about: 'When calls to a failing model are suspended.', fields: ['BREAKER'] },
  { title: 'Key cooldowns', about: 'How long a rejected or rate-limited key is not used.', fields: ['KEYS'] },
  { title: 'History', about: 'How much of the history of requests is kept on disk.', fields: ['HISTORY'] },
  { title: 'Telemetry', about: 'Where traces and metrics are sent.', fields: ['TELEMETRY'] },
  { title: 'Machines', about: 'The store that several machines share.', fields: ['FLEET'] },
];

/** Names of the fields in this form. */
export const settingFields: readonly string[] = groups.flatMap(({ fields }) => fields);

const titles: Readonly<Record<string, string>> = {
  HOST: 'Address (HOST)',
  PORT: 'Port (PORT)',
  WORKERS: 'Processes (WORKERS)',
  ALLOWED_HOSTS: 'Additional host names (ALLOWED_HOSTS)',
  ALLOWED_ORIGINS: 'Web pages and apps that may call the model routes (ALLOWED_ORIGINS)',
  PROXIES: 'Trusted proxies (PROXIES)',
  KEEP_ALIVE: 'Keep connections open after a response (KEEP_ALIVE)',
  CHAT_STRICT: 'Reject JSON Schemas and legacy functions (CHAT_STRICT)',
  LOG: 'Write logs (LOG)',
  LOG_LEVEL: 'Minimum level (LOG_LEVEL)',
  GRAMMAR: 'Check responses against their wire formats (GRAMMAR)',
};

/** A group's part of the form: a schema, and its value in the configuration. */
interface Part extends Group {
  readonly schema: JsonObject;
  /** Of the object that is the group; empty: the configuration's own fields. */
  readonly path: string;
  readonly value: JsonObject;
  readonly titles: Readonly<Record<string, string>>;
}

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
  const parts = groups
    .map((group) => partOf(group, schema, config))
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
                      ? part.fields.reduce((done, field) => withMember(done, field, next[field]), before)
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

const partOf = (group: Group, { properties = {} }: JsonObject, config: JsonObject): Part => {
  const all = isJsonObject(properties) ? properties : {};
  const [only = ''] = group.fields;
  const own = all[only];
  if (group.fields.length === 1 && isJsonObject(own) && isJsonObject(own.properties)) {
    const value = config[only];
    return {
      ...group,
      path: only,
      schema: { ...own, additionalProperties: false },
      value: isJsonObject(value) ? value : {},
      titles: fieldTitles(own),
    };
  }
  const members = withoutReferences(pick(all, group.fields));
  return {
    ...group,
    path: '',
    schema: { type: 'object', additionalProperties: false, properties: members },
    value: pick(config, group.fields),
    titles,
  };
};

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

/** The fields' schemas without the reference to the environment that the file may have in place of a value. */
const withoutReferences = (properties: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      if (!isJsonObject(field)) return [name, field];
      const { type, anyOf } = field;
      if (Array.isArray(type)) return [name, { ...field, type: type[0] }];
      const others = Array.isArray(anyOf) && anyOf.filter((one: Json) => !(isJsonObject(one) && 'pattern' in one));
      return [name, others ? { ...field, anyOf: others } : field];
    }),
  );

const pick = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));
