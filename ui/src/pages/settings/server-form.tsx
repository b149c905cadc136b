import { readConfigSchema } from '../../api/config.ts';
import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { useLoad } from '../../api/use-load.ts';
import { withMember } from '../../config/field-path.ts';
import { useField, useForm } from '../../config/form.ts';
import { isLiteralKey } from '../../config/reference.ts';
import { SchemaForm } from '../../config/schema-form.tsx';
import { SecretField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Panel } from '../../parts/panel.tsx';

const parts = [
  {
    title: 'Listening',
    about: 'Where the gateway can be reached. A change needs a restart.',
    fields: ['HOST', 'PORT', 'WORKERS', 'ALLOWED_HOSTS'],
  },
  {
    title: 'Chat route',
    about: 'What clients of Chat Completions may ask for.',
    fields: ['CHAT_STRICT'],
  },
  { title: 'Logs', about: 'What is written to the log files.', fields: ['LOG', 'LOG_LEVEL'] },
] as const;

const groups = [
  { field: 'LIMITS', title: 'Limits', about: 'What one request, one client, one provider may take.' },
  { field: 'TIMEOUTS', title: 'Timeouts', about: 'How long the gateway waits, in milliseconds.' },
  { field: 'RETRY', title: 'Retries', about: 'How failed calls are made again before the answer has begun.' },
  { field: 'BREAKER', title: 'Breakers', about: 'When a model that keeps failing is left alone.' },
  { field: 'KEYS', title: 'Resting keys', about: 'How long a provider’s key is left alone.' },
] as const;

/** Names of the fields that have a place here. */
export const serverFields: readonly string[] = [
  'APIKEY',
  ...parts.flatMap(({ fields }) => fields),
  ...groups.map(({ field }) => field),
];

const titles = {
  HOST: 'Address (HOST)',
  PORT: 'Port (PORT)',
  WORKERS: 'Processes (WORKERS)',
  ALLOWED_HOSTS: 'Further host names (ALLOWED_HOSTS)',
  CHAT_STRICT: 'Refuse JSON Schemas and legacy functions (CHAT_STRICT)',
  LOG: 'Write logs (LOG)',
  LOG_LEVEL: 'Least important record (LOG_LEVEL)',
};

/** The server's own fields as a form, as the configuration's schema describes them. */
export const ServerForm = () => {
  const { config, change } = useForm();
  const { data: schema, error } = useLoad(readConfigSchema);
  if (error !== undefined && !schema) {
    return (
      <Notice kind="failed" title="The form could not be made">
        {error} The whole file can still be edited.
      </Notice>
    );
  }
  if (!schema) return <Loading what="The form" />;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return (
    <>
      {parts.map(({ title, about, fields }) => (
        <Panel key={title} title={title} about={about}>
          <SchemaForm
            schema={{ type: 'object', additionalProperties: false, properties: pick(properties, fields) }}
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
        about="What clients must send, this page too. Without one, only this machine can reach the gateway."
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
        hint="Best as a reference to the environment, $NAME. After a change this page asks for the new one."
        {...useField('APIKEY')}
        value={APIKEY}
        onChange={(value) => change((before) => withMember(before, 'APIKEY', value === '' ? undefined : value))}
      />
      {isLiteralKey(APIKEY) && (
        <Notice kind="warn" title="The key is written out">
          It stands in config.json and its backups. A reference such as <code>$SWITCHYARD_KEY</code> keeps it out of
          them.
        </Notice>
      )}
    </div>
  );
};

const pick = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));
