import { useState } from 'react';
import { protocolTitles } from '../../api/protocols.ts';
import { routedName } from '../../config/rules.ts';
import { Button } from '../../parts/controls/button.tsx';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { CheckField, NumberField, TextArea } from '../../parts/controls/field.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { FilterChips } from '../../parts/table/filter-chips.tsx';
import { EarlierTurns } from './earlier-turns.tsx';
import { PictureField } from './picture-field.tsx';
import type { PromptState } from './use-prompt.ts';

/** The prompt form, independent of the protocol. With edited bodies alone, only the models can be chosen. */
export const PromptForm = ({ state }: { readonly state: PromptState }) => {
  const { turns = [] } = state.prompt;
  const { target, prompt, picture, edited, isAllEdited, changePrompt, setPicture, returnToForm } = state;
  return (
    <div className="prompt-form">
      {edited.length > 0 && (
        <Notice
          title={
            target === 'all' ? `Edited: ${edited.map((one) => protocolTitles[one]).join(', ')}` : 'Edited JSON body'
          }
          actions={<Button onClick={returnToForm}>Use the form instead</Button>}
        >
          It is sent as is, instead of what the form makes.
        </Notice>
      )}
      <ModelFields state={state} />
      {!isAllEdited && (
        <>
          <TextArea
            label="System prompt"
            rows={2}
            value={prompt.system}
            onChange={(system) => changePrompt({ system })}
          />
          {turns.length > 0 && <EarlierTurns turns={turns} onChange={(next) => changePrompt({ turns: next })} />}
          <TextArea
            className="prompt-text"
            label="User message"
            rows={6}
            value={prompt.text}
            onChange={(text) => changePrompt({ text })}
          />
          <div className="row prompt-choices">
            <CheckField label="Stream" checked={prompt.stream} onChange={(stream) => changePrompt({ stream })} />
            <CheckField
              label="Add a sample tool"
              checked={prompt.withTool}
              onChange={(withTool) => changePrompt({ withTool })}
            />
            <CheckField
              label="Request thinking"
              checked={prompt.thinking}
              onChange={(thinking) => changePrompt({ thinking })}
            />
          </div>
          <div className="prompt-numbers">
            <NumberField
              label="Max output tokens"
              min={1}
              step={1}
              value={prompt.maxTokens}
              onChange={(maxTokens) => changePrompt({ maxTokens })}
            />
            <NumberField
              label="Temperature"
              inputMode="decimal"
              min={0}
              step={0.1}
              value={prompt.temperature}
              onChange={(temperature) => changePrompt({ temperature })}
            />
            <ComboField
              label="Reasoning effort"
              value={prompt.effort ?? ''}
              onChange={(effort) => changePrompt({ effort })}
              options={efforts}
              placeholder="not set"
            />
          </div>
          <PictureField picture={picture} onChange={setPicture} />
        </>
      )}
    </div>
  );
};

/** Names that most models know; others can be typed. */
const efforts = ['low', 'medium', 'high'].map((value) => ({ value }));

const ModelFields = ({
  state: { target, model, others, models, setModel, setOthers },
}: {
  readonly state: PromptState;
}) => {
  const [typed, setTyped] = useState('');
  const options = (models.data ?? []).map(({ id, owned_by: owner }) => ({
    value: id,
    ...(owner !== undefined && { note: owner }),
  }));
  const add = (name: string): void => {
    if (name !== '' && !others.includes(name)) setOthers([...others, name]);
    setTyped('');
  };
  return (
    <>
      <ComboField
        label="Model"
        value={model}
        onChange={setModel}
        options={options}
        error={models.error && `Could not load the models: ${models.error}`}
        placeholder="Let the rules decide"
      />
      {target !== 'all' && (
        <div className="stack-tight">
          <ComboField
            label="Compare with"
            value={typed}
            onChange={setTyped}
            onPick={add}
            onEnter={() => add(typed.trim())}
            options={[{ value: routedName, note: 'chosen by the rules' }, ...options]}
            placeholder="Another model"
          />
          {others.length > 0 && (
            <FilterChips
              label="Compared models"
              chips={others.map((name) => ({ key: name, label: name, on: true }))}
              onToggle={(name) => setOthers(others.filter((one) => one !== name))}
            />
          )}
        </div>
      )}
    </>
  );
};
