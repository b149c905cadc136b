import { useEffect, useRef, useState } from 'react';
import { type Protocol, protocolTitles } from '../../api/protocols.ts';
import { Empty } from '../../parts/empty.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { useWidth } from '../../parts/use-width.ts';
import './playground.css';
import { PromptPanel } from './prompt-panel.tsx';
import type { Run } from './run.ts';
import { RunView } from './run-view.tsx';
import { usePrompt } from './use-prompt.ts';
import { useRuns } from './use-runs.ts';

/** Sends a prompt in one or all client protocols and shows the responses. */
export const Playground = () => {
  const { list, running, start, stop } = useRuns();
  const state = usePrompt({ running, start });
  const answers = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = answers.current;
    // Below a form that fills the window, the response would be out of view.
    if (running && box && box.getBoundingClientRect().top > window.innerHeight / 2) box.scrollIntoView();
  }, [running]);
  return (
    <>
      <PageHeader
        title="Playground"
        about="Send a prompt in any of the three client protocols and inspect the response."
      />
      <div className={state.target === 'all' ? 'playground-stacked' : 'playground'}>
        <PromptPanel state={state} running={running} onStop={stop} />
        <div ref={answers} className="playground-answers">
          {list.length === 0 ? (
            <Panel title="Response">
              <Empty title="Nothing sent yet">
                The response appears here as it arrives: rendered, as raw events with timing, and with its headers.
              </Empty>
            </Panel>
          ) : (
            <RunList list={list} />
          )}
        </div>
      </div>
    </>
  );
};

/** The least width for three columns, in pixels; below it there are tabs. */
const sideBySidePx = 760;

const RunList = ({ list }: { readonly list: readonly Run[] }) => {
  const [ref, width] = useWidth();
  const [shown, setShown] = useState<Protocol>('messages');
  const [only] = list;
  if (list.length === 1 && only) return <RunView key={only.protocol} run={only} />;
  const current = list.find(({ protocol }) => protocol === shown);
  return (
    <div ref={ref}>
      {width >= sideBySidePx ? (
        <div className="run-columns">
          {list.map((run) => (
            <RunView key={run.protocol} run={run} />
          ))}
        </div>
      ) : (
        <Tabs
          label="Protocols"
          shown={shown}
          onShow={setShown}
          tabs={list.map(({ protocol }) => ({ name: protocol, title: protocolTitles[protocol] }))}
        >
          {current && <RunView key={current.protocol} run={current} />}
        </Tabs>
      )}
    </div>
  );
};
