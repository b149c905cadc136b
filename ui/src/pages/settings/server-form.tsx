import { readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { useLoad } from '../../api/use-load.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { fieldTitles } from '../../config/fields/field-titles.ts';
import { useField, useForm } from '../../config/fields/form.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';
import { editedSecret, isLiteralKey } from '../../config/reference.ts';
import { SecretField } from '../../parts/controls/field.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';

const parts = [
  {
    title: 'Listening',
    about: 'Where the gateway listens. Changes require a restart.',
    fields: ['HOST', 'PORT', 'WORKERS', 'ALLOWED_HOSTS', 'ALLOWED_ORIGINS'],
  },
  {
    title: 'Behind a balancer',
    about: 'How connections of a load balancer are treated.',
    fields: ['PROXIES', 'KEEP_ALIVE'],
  },
  {
    title: 'Chat Completions',
    about: 'What Chat Completions clients may request.',
    fields: ['CHAT_STRICT'],
  },
  { title: 'Logs', about: 'What is written to the log files.', fields: ['LOG', 'LOG_LEVEL'] },
] as const;

const groups = [
  { field: 'LIMITS', title: 'Limits', about: 'Limits per request, client and provider.' },
  { field: 'TIMEOUTS', title: 'Timeouts', about: 'How long the gateway waits.' },
  {
    field: 'RETRY',
    title: 'Retries',
    about: 'When failed calls are retried. A response that has started is never retried.',
  },
  { field: 'BREAKER', title: 'Breakers', about: 'When calls to a failing model are suspended.' },
  { field: 'KEYS', title: 'Key cooldowns', about: 'How long a rejected or rate-limited key is not used.' },
  { field: 'HISTORY', title: 'History', about: 'How much of the history of requests is kept on disk.' },
] as const;

/** Names of the fields in this form. */
export const serverFields: readonly string[] = [
  'APIKEY',
  ...parts.flatMap(({ fields }) => fields),
  ...groups.map(({ field }) => field),
];

const titles = {
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
};

/** The server's settings as a form, made from the configuration's schema. */
export const ServerForm = () => {
  const { config, change } = useForm();
  const { data: schema, error } = useLoad(readConfigSchema);
  if (error !== undefined && !schema) {
    return (
      <Notice kind="failed" title="Could not load the form">
        {error} You can still edit the whole file.
      </Notice>
    );
  }
  if (!schema) return <Loading what="form" />;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return (
    <>
      {parts.map(({ title, about, fields }) => (
        <Panel key={title} title={title} about={about}>
          <SchemaForm
            schema={{ type: 'object', additionalProperties: false, properties: values(pick(properties, fields)) }}
            path=""
            titles={titles}
            value={pick(config, fields)}
            onChange={(next) =>
              change((before) => fields.reduce((done, field) => withMember(done, field, next[field]), before))
            }
          />
        </Panel>
      ))}
      <Panel
        title="Key"
        about="Required from all clients, including this page. Without a key, only this machine can reach the gateway."
      >
        <KeyField />
      </Panel>
      {groups.map(({ field, title, about }) => {
        const group = properties[field];
        if (!isJsonObject(group)) return null;
        const value = config[field];
        return (
          <Panel key={field} title={title} about={about}>
            <SchemaForm
              schema={{ ...group, additionalProperties: false }}
              path={field}
              titles={fieldTitles(group)}
              value={isJsonObject(value) ? value : {}}
              onChange={(next) =>
                change((before) => withMember(before, field, Object.keys(next).length === 0 ? undefined : next))
              }
            />
          </Panel>
        );
      })}
    </>
  );
};

const KeyField = () => {
  const { config, change } = useForm();
  const { APIKEY = '' } = config;
  return (
    <div className="stack settings-key">
      <SecretField
        label="APIKEY"
        hint="Prefer a reference to an environment variable, $NAME. After a change, this page asks for the new key."
        {...useField('APIKEY')}
        value={APIKEY}
        onChange={(typed) => {
          const key = editedSecret(APIKEY, typed);
          change((before) => withMember(before, 'APIKEY', key === '' ? undefined : key));
        }}
      />
      {isLiteralKey(APIKEY) && (
        <Notice kind="warn" title="Key stored in plain text">
          It is saved in config.json and its backups. A reference such as <code>$JUNCTOR_KEY</code> keeps it out of
          both.
        </Notice>
      )}
    </div>
  );
};

/** The fields' schemas without the reference to the environment that the file may have in place of a value. */
const values = (properties: JsonObject): JsonObject =>
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
