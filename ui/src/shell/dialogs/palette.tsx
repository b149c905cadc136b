import { useCallback } from 'react';
import { wordError } from '../../api/api-error.ts';
import { readCapture, switchCapture } from '../../api/requests/capture.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { type ListedModel, listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { timeOfDay } from '../../format/time.ts';
import { pages } from '../../pages.ts';
import { Finder, type Finding } from '../../parts/controls/finder.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { href, navigate } from '../../router/route.ts';
import { useStore } from '../../state/store.ts';
import { theme, themes } from '../theme.ts';
import { toast } from '../toast.ts';
import { shortcuts } from './shortcuts.ts';

/** Something that can be found and opened or done. */
interface Command extends Finding {
  readonly kind: 'Page' | 'Action' | 'Model' | 'Request';
  readonly run: () => void;
}

/** Finds pages, actions, models and recent requests by a few letters. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Go to" onClose={onClose}>
    <Finder
      label="Page, action, model or request"
      choices={useCommands()}
      onChoose={({ run }) => {
        onClose();
        run();
      }}
    />
  </Dialog>
);

const useCommands = (): readonly Command[] => {
  const keys = useStore(shortcuts);
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), [])).data ?? [];
  const capture = useLoad(useCallback((signal: AbortSignal) => readCapture(signal), [])).data;
  const requests = useRecentRequests().data?.requests ?? [];
  return [
    ...pages.flatMap(({ name, title, link }): readonly Command[] =>
      link || name === 'guide'
        ? [{ kind: 'Page', title, note: link && `g ${link.key}`, run: () => navigate(href(`/${name}`)) }]
        : [],
    ),
    ...keys
      .filter((key) => !key.keys.startsWith('g ') && key.keys !== 'Ctrl+k')
      .map((key): Command => ({ kind: 'Action', title: key.does, note: key.keys, run: key.run })),
    ...(capture ? [recordingCommand(capture.on)] : []),
    ...themes.map((name): Command => ({ kind: 'Action', title: `Theme: ${name}`, run: () => theme.set(name) })),
    ...models.map(modelCommand),
    ...requests.map(requestCommand),
  ];
};

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
