import { useState } from 'react';
import { shortProtocolTitles } from '../../api/protocols.ts';
import { Button } from '../../parts/controls/button.tsx';
import { CheckField } from '../../parts/controls/field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { BodyEditor } from './body-editor.tsx';
import { composeBody } from './compose-body.ts';
import { type Target, targets } from './draft.ts';
import { PromptForm } from './prompt-form.tsx';
import { SentPrompts } from './sent-prompts.tsx';
import type { PromptState } from './use-prompt.ts';

interface PromptPanelProps {
  readonly state: PromptState;
  readonly running: boolean;
  readonly onStop: () => void;
}

/** Edits and sends the prompt. */
export const PromptPanel = (props: PromptPanelProps) => {
  const { target, sent, setTarget, send, pick } = props.state;
  return (
    <section className="prompt" aria-label="Prompt">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles keys from every field inside */}
      <div
        className="stack-tight"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          send();
        }}
      >
        <Segmented
          label="Protocol"
          value={target}
          onChange={setTarget}
          options={targets.map((one) => ({ value: one, label: targetTitle(one) }))}
        />
        <RequestFields state={props.state} />
        <SendRow {...props} />
        <SentPrompts list={sent} onPick={pick} />
      </div>
    </section>
  );
};

const targetTitle = (target: Target): string => (target === 'all' ? 'All three' : shortProtocolTitles[target]);

/** The form; for one protocol, also the body that it makes. */
const RequestFields = ({ state }: { readonly state: PromptState }) => {
  const { target, prompt, picture, bodies, write, returnToForm } = state;
  const [view, setView] = useState<'form' | 'body'>('form');
  if (target === 'all') return <PromptForm state={state} />;
  const written = bodies[target];
  return (
    <Tabs
      label="Request"
      shown={view}
      onShow={setView}
      tabs={[
        { name: 'form', title: 'Form' },
        { name: 'body', title: written === undefined ? 'JSON body' : 'JSON body (edited)' },
      ]}
    >
      {view === 'form' ? (
        <PromptForm state={state} />
      ) : (
        <BodyEditor
          protocol={target}
          written={written}
          composed={composeBody(target, prompt, picture)}
          onChange={(text) => write(target, text)}
          onReset={returnToForm}
        />
      )}
    </Tabs>
  );
};

const SendRow = ({ state, running, onStop }: PromptPanelProps) => {
  const { target, problem, capture, send, setCapture } = state;
  return (
    <div className="row prompt-send">
      {running ? (
        <Button icon="stop" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button look="primary" icon="play" disabled={problem !== undefined} onClick={send}>
          {target === 'all' ? 'Send all three' : 'Send'}
        </Button>
      )}
      <CheckField
        label="Capture"
        title="Each stage can be inspected afterwards"
        checked={capture}
        onChange={setCapture}
      />
      <span className="soft small">{problem ?? 'or press Ctrl+Enter'}</span>
    </div>
  );
};
