import { useCallback, useEffect, useRef, useState } from 'react';
import { type Json, parseJson } from '../../api/json.ts';
import { type Protocol, protocols, protocolTitles, shortProtocolTitles } from '../../api/protocols.ts';
import { listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { CheckField } from '../../parts/field.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { useWidth } from '../../parts/use-width.ts';
import { BodyEditor } from './body-editor.tsx';
import { composeBody } from './compose-body.ts';
import { firstDraft, isDraft, isSentList, mostSent, type SentPrompt, type Target, targets } from './draft.ts';
import './playground.css';
import type { Picture, Prompt } from './prompt.ts';
import { PromptForm } from './prompt-form.tsx';
import type { Run } from './run.ts';
import { RunView } from './run-view.tsx';
import { SentPrompts } from './sent-prompts.tsx';
import { useKept } from './use-kept.ts';
import { useRuns } from './use-runs.ts';

/** Sends a prompt in one or all client protocols and shows the responses. */
export const Playground = () => {
  const [draft, changeDraft] = useKept('playground', firstDraft, isDraft);
  const [sent, changeSent] = useKept('playground.sent', [], isSentList);
  const [picture, setPicture] = useState<Picture>();
  const [view, setView] = useState<'form' | 'body'>('form');
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), []));
  const { list, running, start, stop } = useRuns();
  const answers = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = answers.current;
    // Below a form that fills the window, the response would be out of view.
    if (running && box && box.getBoundingClientRect().top > window.innerHeight / 2) box.scrollIntoView();
  }, [running]);

  const { target, bodies, capture } = draft;
  const prompt: Prompt = { ...draft.prompt, model: draft.model ?? models.data?.[0]?.id ?? '' };
  const asked = target === 'all' ? protocols : [target];
  const written = target === 'all' ? undefined : bodies[target];
  const value = written === undefined ? undefined : parseJson(written);
  const problem = problemOf(prompt, written, value);

  const changePrompt = ({ model, ...part }: Partial<Prompt>): void =>
    changeDraft((before) => ({
      ...before,
      ...(model !== undefined && { model }),
      prompt: { ...before.prompt, ...part },
    }));
  const write = (protocol: Protocol, text: string | undefined): void =>
    changeDraft((before) => {
      const { [protocol]: _, ...others } = before.bodies;
      return { ...before, bodies: text === undefined ? others : { ...others, [protocol]: text } };
    });
  const send = (): void => {
    if (running || problem !== undefined) return;
    start(
      asked.map((protocol) => [protocol, value ?? composeBody(protocol, prompt, picture)]),
      capture,
    );
    if (written === undefined)
      changeSent((before) => [{ at: Date.now(), target, prompt }, ...before].slice(0, mostSent));
  };
  const pick = ({ target: sentTo, prompt: { model, ...rest } }: SentPrompt): void =>
    changeDraft((before) => ({ ...before, target: sentTo, model, prompt: rest }));

  return (
    <>
      <PageHeader
        title="Playground"
        about="Send a prompt in any of the three client protocols and inspect the response."
      />
      <div className={target === 'all' ? 'playground-stacked' : 'playground'}>
        <Panel
          title="Prompt"
          className="prompt"
          actions={
            <Segmented
              label="Protocol"
              value={target}
              onChange={(next) => changeDraft((before) => ({ ...before, target: next }))}
              options={targets.map((one) => ({ value: one, label: targetTitle(one) }))}
            />
          }
        >
          {/* biome-ignore lint/a11y/noStaticElementInteractions: handles keys from every field inside */}
          <div
            className="stack"
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              send();
            }}
          >
            {target === 'all' ? (
              <PromptForm
                prompt={prompt}
                onChange={changePrompt}
                picture={picture}
                onPicture={setPicture}
                models={models}
              />
            ) : (
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
                  <PromptForm
                    prompt={prompt}
                    onChange={changePrompt}
                    picture={picture}
                    onPicture={setPicture}
                    models={models}
                    onForm={written === undefined ? undefined : () => write(target, undefined)}
                  />
                ) : (
                  <BodyEditor
                    protocol={target}
                    written={written}
                    composed={composeBody(target, prompt, picture)}
                    onChange={(text) => write(target, text)}
                  />
                )}
              </Tabs>
            )}
            <div className="row prompt-send">
              {running ? (
                <Button icon="stop" onClick={stop}>
                  Stop
                </Button>
              ) : (
                <Button look="primary" icon="play" disabled={problem !== undefined} onClick={send}>
                  {target === 'all' ? 'Send all three' : 'Send'}
                </Button>
              )}
              <CheckField
                label="Record trace"
                title="Each stage can be inspected afterwards"
                checked={capture}
                onChange={(next) => changeDraft((before) => ({ ...before, capture: next }))}
              />
              <span className="soft small">{problem ?? 'or press Ctrl+Enter'}</span>
            </div>
            <SentPrompts list={sent} onPick={pick} />
          </div>
        </Panel>
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

const targetTitle = (target: Target): string => (target === 'all' ? 'All three' : shortProtocolTitles[target]);

const problemOf = (prompt: Prompt, written: string | undefined, value: Json | undefined): string | undefined => {
  if (written !== undefined) return value === undefined ? 'The body is not valid JSON yet.' : undefined;
  if (prompt.model === '') return 'Select a model first.';
  return prompt.maxTokens !== undefined && !(Number.isInteger(prompt.maxTokens) && prompt.maxTokens > 0)
    ? 'Max output tokens must be a whole number of at least 1.'
    : undefined;
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
