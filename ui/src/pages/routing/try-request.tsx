import { protocols, shortProtocolTitles } from '../../api/protocols.ts';
import { counted } from '../../format/figures.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { SelectField } from '../../parts/controls/field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { ExplanationSteps } from './explanation-steps.tsx';
import { samples } from './samples.ts';
import type { Trial, TrialSource } from './use-trial.ts';

/** Tries a request by the draft: its way is lit in the drawing above. Nothing is sent to a provider. */
export const TryRequest = ({ trial }: { readonly trial: Trial }) => {
  const { protocol, source, text, busy, outcome } = trial;
  const options: readonly { readonly value: TrialSource; readonly label: string }[] = [
    ...samples.map(({ name, title }) => ({ value: name, label: title })),
    { value: 'captured', label: 'Last captured request' },
  ];
  return (
    <section className="stack-tight routing-try" aria-label="Try a request">
      <div className="row">
        <strong>Try a request</strong>
        <Segmented
          label="Client protocol"
          value={protocol}
          options={protocols.map((value) => ({ value, label: shortProtocolTitles[value] }))}
          onChange={trial.setProtocol}
        />
        <SelectField label="Sample" unlabelled value={source} options={options} onChange={trial.pick} />
        <Button icon="play" busy={busy} onClick={trial.run}>
          Try
        </Button>
        {outcome && <IconButton icon="close" label="Forget the result" onClick={trial.clear} />}
      </div>
      <div aria-live="polite" className="stack-tight">
        {outcome?.error !== undefined && (
          <Notice kind="failed" title="This request would be rejected">
            {outcome.error}
          </Notice>
        )}
        {outcome?.explanation && (
          <>
            <p>
              <strong>{`${outcome.explanation.provider},${outcome.explanation.model}`}</strong>{' '}
              <span className="soft">
                {outcome.explanation.reason}; {counted(outcome.explanation.losses.length, 'loss', 'losses')}
              </span>
            </p>
            <Fold title="Step by step">
              <ExplanationSteps explanation={outcome.explanation} />
            </Fold>
          </>
        )}
      </div>
      <Fold title="Request body">
        <JsonEditor label="Request body" value={text} onChange={trial.setText} maxLines={14} />
      </Fold>
    </section>
  );
};
