import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { readCapture, switchCapture } from '../../api/requests/capture.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { type ListedModel, listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { timeOfDay } from '../../format/time.ts';
import { pages } from '../../pages.ts';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { classNames } from '../../parts/text/class-names.ts';
import { href, navigate } from '../../router/route.ts';
import { useStore } from '../../state/store.ts';
import './palette.css';
import { theme, themes } from '../theme.ts';
import { toast } from '../toast.ts';
import { shortcuts } from './shortcuts.ts';

/** Something that can be found and opened or done. */
interface Command {
  readonly kind: 'Page' | 'Action' | 'Model' | 'Request';
  readonly title: string;
  readonly note?: string | undefined;
  readonly run: () => void;
}

/** How many are listed. */
const mostShown = 40;

/** Finds pages, actions, models and recent requests by a few letters. Source of the keys: WAI-ARIA, "Combobox". */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const found = useCommands()
    .filter((command) => fits(command, text))
    .slice(0, mostShown);
  const choose = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') choose(found[active]);
    else if (step === undefined || found.length === 0) return;
    else {
      const next = (active + step + found.length) % found.length;
      setActive(next);
      list.current?.children.item(next)?.scrollIntoView({ block: 'nearest' });
    }
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        className="control palette-text"
        type="text"
        role="combobox"
        aria-label="Page, action, model or request"
        placeholder="Page, action, model or request"
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={`${id}-list`} className="palette-list" role="listbox" aria-label="Found">
        {found.map((command, index) => (
          // The focus stays in the field, which handles the keys.
          <div
            key={`${command.kind} ${command.title}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={classNames('palette-option', index === active && 'palette-active')}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(command);
            }}
          >
            <span className="soft small">{command.kind}</span>
            <span className="cut">{command.title}</span>
            <span className="soft small cut">{command.note}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="soft">Nothing found</p>}
    </Dialog>
  );
};

/** Whether each word is found somewhere. */
const fits = ({ kind, title, note = '' }: Command, text: string): boolean => {
  const where = `${kind} ${title} ${note}`.toLowerCase();
  return text
    .toLowerCase()
    .split(' ')
    .every((word) => where.includes(word));
};

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
