import type { ListedModel } from '../../api/service.ts';
import type { Loaded } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { ComboField } from '../../parts/combo-field.tsx';
import { CheckField, NumberField, TextArea } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PictureField } from './picture-field.tsx';
import type { Picture, Prompt } from './prompt.ts';

/** The prompt form, independent of the protocol. */
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
  /** Resets an edited body, which is sent instead of the form's. */
  readonly onForm?: (() => void) | undefined;
}) => (
  <div className="prompt-form">
    {onForm && (
      <Notice title="The JSON body was edited by hand" actions={<Button onClick={onForm}>Use the form instead</Button>}>
        It is sent as is; the form has no effect.
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
      hint="provider,model goes to exactly that model; any other name is routed by the rules."
    />
    <TextArea label="System prompt" rows={2} value={prompt.system} onChange={(system) => onChange({ system })} />
    <TextArea
      className="prompt-text"
      label="User message"
      rows={5}
      value={prompt.text}
      onChange={(text) => onChange({ text })}
    />
    <div className="prompt-choices">
      <CheckField label="Stream" checked={prompt.stream} onChange={(stream) => onChange({ stream })} />
      <CheckField label="Add a sample tool" checked={prompt.withTool} onChange={(withTool) => onChange({ withTool })} />
      <CheckField label="Request thinking" checked={prompt.thinking} onChange={(thinking) => onChange({ thinking })} />
    </div>
    <NumberField
      label="Max output tokens"
      min={1}
      step={1}
      value={prompt.maxTokens}
      onChange={(maxTokens) => onChange({ maxTokens })}
    />
    <PictureField picture={picture} onChange={onPicture} />
  </div>
);
