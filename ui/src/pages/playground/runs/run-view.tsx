import { useState } from 'react';
import { Button, IconButton } from '../../../parts/controls/button.tsx';
import { Tabs } from '../../../parts/controls/tabs.tsx';
import { Notice } from '../../../parts/layout/notice.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { Lamp } from '../../../parts/text/badge.tsx';
import type { Turn } from '../../../stream/conversation.ts';
import { AnswerView } from './answer-view.tsx';
import type { Run } from './run.ts';
import { RunDetails } from './run-details.tsx';
import { RunEvents } from './run-events.tsx';
import { RunFigures } from './run-figures.tsx';

type View = 'answer' | 'raw' | 'details';

/** One response: rendered, raw, and what else is known of it. */
export const RunView = ({
  run,
  onClose,
  onContinue,
}: {
  readonly run: Run;
  /** Only a recorded response can be taken away. */
  readonly onClose?: (() => void) | undefined;
  /** Takes the conversation with this response; absent: another message can't follow. */
  readonly onContinue?: ((turns: readonly Turn[]) => void) | undefined;
}) => {
  const [view, setView] = useState<View>('answer');
  const conversation = conversationOf(run);
  const { title, phase, error, status, events, eventCount, body } = run;
  return (
    <Panel
      title={title}
      className="run"
      actions={
        <>
          <span role="status">
            <Lamp tone={lamps[phase]} pulse={phase === 'waiting' || phase === 'receiving'}>
              {phases[phase]}
            </Lamp>
          </span>
          {onClose && <IconButton icon="close" label="Remove" onClick={onClose} />}
        </>
      }
    >
      <RunFigures run={run} />
      {error !== undefined && (
        <Notice
          kind="failed"
          title={status === undefined || status < 400 ? 'Incomplete response' : `The gateway returned ${status}`}
        >
          {error}
        </Notice>
      )}
      <Tabs
        label={`Response in ${title}`}
        shown={view}
        onShow={setView}
        tabs={[
          { name: 'answer', title: 'Response' },
          { name: 'raw', title: body === undefined ? `Events (${eventCount})` : 'Body' },
          { name: 'details', title: 'Details' },
        ]}
      >
        {view === 'answer' && <AnswerView run={run} />}
        {view === 'raw' && <RunEvents events={events} eventCount={eventCount} body={body} />}
        {view === 'details' && <RunDetails run={run} />}
      </Tabs>
      {conversation && onContinue && (
        <div className="row">
          <Button onClick={() => onContinue(conversation)}>Continue this conversation</Button>
        </div>
      )}
    </Panel>
  );
};

/** The conversation with the response, without its thinking. */
const conversationOf = ({ turns, phase, answer }: Run): readonly Turn[] | undefined => {
  const parts = answer.parts.filter(({ type }) => type === 'text' || type === 'tool');
  if (!turns || phase !== 'ended' || parts.length === 0) return undefined;
  return [...turns, { role: 'assistant', parts }];
};

const phases: Readonly<Record<Run['phase'], string>> = {
  waiting: 'waiting',
  receiving: 'receiving',
  ended: 'done',
  stopped: 'stopped',
  failed: 'failed',
};

const lamps = { waiting: 'warn', receiving: 'accent', ended: 'ok', stopped: 'plain', failed: 'bad' } as const;
