import { useCallback } from 'react';
import { wordError } from '../../api/api-error.ts';
import { type Client, listClients } from '../../api/clients.ts';
import { readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { readCapture, switchCapture } from '../../api/requests/capture.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { listSessions, type Session } from '../../api/requests/sessions.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { type ListedModel, listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { fieldTitles } from '../../config/fields/field-titles.ts';
import { goToField } from '../../config/fields/wanted-field.ts';
import { pageOf, settingsOf } from '../../config/settings-of.ts';
import { counted, timeOfDay } from '../../format/figures.ts';
import { pages } from '../../pages.ts';
import type { Finding } from '../../parts/controls/finder.tsx';
import { href, navigate } from '../../router/route.ts';
import { shortcuts } from '../../state/shortcuts.ts';
import { useStore } from '../../state/store.ts';
import { toast } from '../../state/toast.ts';
import { theme, themes } from '../theme.ts';

/** Something that can be found and opened or done. */
interface Command extends Finding {
  readonly kind: 'Page' | 'Action' | 'Setting' | 'Model' | 'Client' | 'Session' | 'Request';
  readonly run: () => void;
}

/** All that can be found. */
export const useCommands = (): readonly Command[] => {
  const keys = useStore(shortcuts);
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), [])).data ?? [];
  const capture = useLoad(useCallback((signal: AbortSignal) => readCapture(signal), [])).data;
  const requests = useRecentRequests().data?.requests ?? [];
  const clients = useLoad(useCallback((signal: AbortSignal) => listClients(signal), [])).data?.clients ?? [];
  const sessions = useLoad(useCallback((signal: AbortSignal) => listSessions(recentSessions, signal), [])).data;
  const schema = useLoad(readConfigSchema).data;
  return [
    ...pages.flatMap(({ name, title, link }): readonly Command[] =>
      link || name === 'guide'
        ? [{ kind: 'Page', title, note: link && `g ${link.key}`, run: () => navigate(href(`/${name}`)) }]
        : [],
    ),
    ...parts.map(
      ({ title, note, address }): Command => ({ kind: 'Page', title, note, run: () => navigate(address()) }),
    ),
    ...keys
      .filter((key) => !key.keys.startsWith('g ') && key.keys !== 'Ctrl+k')
      .map((key): Command => ({ kind: 'Action', title: key.does, note: key.keys, run: key.run })),
    ...(capture ? [recordingCommand(capture.on)] : []),
    ...themes.map((name): Command => ({ kind: 'Action', title: `Theme: ${name}`, run: () => theme.set(name) })),
    ...models.map(modelCommand),
    ...clients.map(clientCommand),
    ...(sessions?.sessions ?? []).map(sessionCommand),
    ...(schema ? settingsIn(schema).map(settingCommand) : []),
    ...requests.map(requestCommand),
  ];
};

/** Parts of pages that people look for by name. */
const parts: readonly { readonly title: string; readonly note: string; readonly address: () => string }[] = [
  { title: 'Failed requests', note: 'Requests', address: () => `${href('/requests')}?status=failed` },
  { title: 'Sessions', note: 'Requests', address: () => `${href('/requests')}?group=session` },
  { title: 'Logs', note: 'Settings', address: () => href('/settings/logs') },
  ...(['file', 'backups', 'history', 'service'] as const).map((tab) => ({
    title: tab === 'file' ? 'Configuration file' : `${tab[0]?.toUpperCase()}${tab.slice(1)}`,
    note: 'Settings',
    address: () => `${href('/settings')}?tab=${tab}`,
  })),
];

/** The typed text may be the id of a request that only the history on disk has. */
export const typedCommand = (text: string): Command | undefined =>
  text.length >= shortestId && !text.includes(' ')
    ? { kind: 'Request', title: text, note: 'from the history', run: () => navigate(href('/requests', text)) }
    : undefined;

/** Clients may choose ids: what is shorter is hardly one. */
const shortestId = 8;

const recentSessions = { from: '7d', least: 2 } as const;

const sessionCommand = ({ id, client, startedAt, requests, models }: Session): Command => ({
  kind: 'Session',
  title: id,
  note: [timeOfDay(startedAt), client, models.at(-1)?.model, counted(requests, 'request')].filter(Boolean).join(', '),
  run: () => navigate(`${href('/requests')}?${new URLSearchParams({ session: id, from: recentSessions.from })}`),
});

const clientCommand = ({ name }: Client): Command => ({
  kind: 'Client',
  title: name,
  run: () => navigate(`${href('/requests')}?${new URLSearchParams({ client: name })}`),
});

/** A field of the settings' form. */
interface Setting {
  readonly path: string;
  readonly title: string;
  readonly about: string;
}

const settingsIn = (whole: JsonObject): readonly Setting[] =>
  Object.entries(settingsOf(whole)).flatMap(([name, schema]) => {
    if (pageOf(name) !== '/settings') return [];
    if (!isJsonObject(schema.properties)) return [{ path: name, title: name, about: aboutOf(schema) }];
    const titles = fieldTitles(schema);
    return Object.entries(schema.properties).map(([member, one]) => ({
      path: `${name}.${member}`,
      title: `${name}: ${titles[member]}`,
      about: aboutOf(one),
    }));
  });

const aboutOf = (schema: Json | undefined): string =>
  isJsonObject(schema) && typeof schema.description === 'string' ? schema.description : '';

const settingCommand = ({ path, title, about }: Setting): Command => ({
  kind: 'Setting',
  title,
  note: about,
  run: () => goToField(path),
});

const recordingCommand = (on: boolean): Command => ({
  kind: 'Action',
  title: on ? 'Stop capturing requests' : 'Start capturing requests',
  run: () =>
    void switchCapture(!on).then(
      () => toast(on ? 'Capturing stopped.' : 'Capturing started.'),
      (error: unknown) => toast(wordError(error), 'failed'),
    ),
});

const modelCommand = ({ id, owned_by: owner }: ListedModel): Command => ({
  kind: 'Model',
  title: id,
  note: owner,
  run: () => navigate(`${href('/playground')}?${new URLSearchParams({ model: id })}`),
});

const requestCommand = ({ id, startedAt, status, provider, model, asked }: RequestSummary): Command => ({
  kind: 'Request',
  title: id,
  note: `${timeOfDay(startedAt)}, ${provider === undefined ? asked : `${provider},${model ?? asked}`}, ${status}`,
  run: () => navigate(href('/requests', id)),
});
