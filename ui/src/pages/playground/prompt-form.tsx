import type { ListedModel } from '../../api/service.ts';
import type { Loaded } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { ComboField } from '../../parts/combo-field.tsx';
import { CheckField, NumberField, TextArea } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PictureField } from './picture-field.tsx';
import type { Picture, Prompt } from './prompt.ts';

/** What is sent, in the words that all protocols share. */
export const PromptForm = ({
  prompt,
  onChange,
  picture,
  onPicture,
  models,
  onForm,
}: {
  readonly prompt: Prompt;
  readonly onChange: (part: Partial<Prompt>) => void;
  readonly picture: Picture | undefined;
  readonly onPicture: (picture: Picture | undefined) => void;
  readonly models: Loaded<readonly ListedModel[]>;
  /** A body that was written by hand is sent instead; this lets the form count again. */
  readonly onForm?: (() => void) | undefined;
}) => (
  <div className="prompt-form">
    {onForm && (
      <Notice
        title="The JSON body was edited by hand"
        actions={<Button onClick={onForm}>Send what the form says</Button>}
      >
        It is sent as it is; the form has no effect on it.
      </Notice>
    )}
    <ComboField
      label="Model"
      value={prompt.model}
      onChange={(model) => onChange({ model })}
      options={(models.data ?? []).map(({ id, owned_by: owner }) => ({
        value: id,
        ...(owner !== undefined && { note: owner }),
      }))}
      error={models.error}
      hint="provider,model goes just there; any other name is routed."
    />
    <TextArea label="System" rows={2} value={prompt.system} onChange={(system) => onChange({ system })} />
    <TextArea
      className="prompt-text"
      label="Text"
      rows={5}
      value={prompt.text}
      onChange={(text) => onChange({ text })}
    />
    <div className="prompt-choices">
      <CheckField label="streamed" checked={prompt.stream} onChange={(stream) => onChange({ stream })} />
      <CheckField
        label="with a sample tool"
        checked={prompt.withTool}
        onChange={(withTool) => onChange({ withTool })}
      />
      <CheckField label="ask for thinking" checked={prompt.thinking} onChange={(thinking) => onChange({ thinking })} />
    </div>
    <NumberField
      label="Longest answer, in tokens"
      min={1}
      step={1}
      value={prompt.maxTokens}
      onChange={(maxTokens) => onChange({ maxTokens })}
    />
    <PictureField picture={picture} onChange={onPicture} />
  </div>
);
