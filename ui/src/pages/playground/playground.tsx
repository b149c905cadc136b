import { useEffect, useRef, useState } from 'react';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { Empty, LoadFailed, Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { useWidth } from '../../parts/layout/use-width.ts';
import { changeQuery } from '../../router/route.ts';
import type { Turn } from '../../stream/conversation.ts';
import type { PageProps } from '../page.ts';
import './playground.css';
import { PromptPanel } from './prompt-panel.tsx';
import type { Run } from './runs/run.ts';
import { RunView } from './runs/run-view.tsx';
import { useRuns } from './runs/use-runs.ts';
import { usePrompt } from './use-prompt.ts';
import { useRecorded } from './use-recorded.ts';

/** Sends a prompt in one or all client protocols and shows the responses. */
export const Playground = ({ query }: PageProps) => {
  const { list, running, start, stop } = useRuns();
  const state = usePrompt({ running, start });
  const { recorded, problem, error, reload, forget } = useRecorded(query.get('from'), state.take);
  const shown = recorded ? [recorded, ...list] : list;
  const asked = query.get('model');
  const { setModel } = state;
  // biome-ignore lint/correctness/useExhaustiveDependencies: taken once; then the field decides
  useEffect(() => {
    if (asked === null) return;
    setModel(asked);
    changeQuery({ model: '' });
  }, [asked]);
  const answers = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = answers.current;
    // Below a form that fills the window, the response would be out of view.
    if (running && box && box.getBoundingClientRect().top > window.innerHeight / 2) box.scrollIntoView();
  }, [running]);
  return (
    <>
      <PageBar title="Playground" about="A prompt in any of the three client protocols, and its answers" />
      {error && <LoadFailed what="the captured request" error={error} onRetry={reload} />}
      {problem && <Notice kind="failed">{problem}</Notice>}
      <div className="playground">
        <PromptPanel state={state} running={running} onStop={stop} />
        <div ref={answers} className="playground-answers">
          {shown.length === 0 ? (
            <Empty title="Nothing sent yet">
              The answer appears here as it arrives: rendered, as events with their times, and with its figures and
              headers.
            </Empty>
          ) : (
            <RunList list={shown} recorded={recorded} onForget={forget} onContinue={state.goOn} />
          )}
        </div>
      </div>
    </>
  );
};

/** The least width of a column, in pixels; without room for two there are tabs, and more than fit scroll sideways. */
const columnPx = 280;

const RunList = ({
  list,
  recorded,
  onForget,
  onContinue,
}: {
  readonly list: readonly Run[];
  /** The one that was recorded. */
  readonly recorded: Run | undefined;
  readonly onForget: () => void;
  readonly onContinue: (turns: readonly Turn[]) => void;
}) => {
  const [ref, width] = useWidth();
  const [shown, setShown] = useState('');
  const view = (run: Run) => (
    <RunView key={run.title} run={run} onClose={run === recorded ? onForget : undefined} onContinue={onContinue} />
  );
  const [first] = list;
  if (list.length === 1 && first) return view(first);
  const current = list.find(({ title }) => title === shown) ?? list.at(-1);
  return (
    <div ref={ref}>
      {width >= columnPx * 2 ? (
        <div className="run-columns">{list.map(view)}</div>
      ) : (
        <Tabs
          label="Responses"
          shown={current?.title ?? ''}
          onShow={setShown}
          tabs={list.map(({ title }) => ({ name: title, title }))}
        >
          {current && view(current)}
        </Tabs>
      )}
    </div>
  );
};
