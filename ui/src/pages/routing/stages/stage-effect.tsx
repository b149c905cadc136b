import { Button } from '../../../parts/controls/button.tsx';
import { DiffView } from '../../../parts/diff/diff-view.tsx';
import { Notice } from '../../../parts/layout/notice.tsx';
import type { Trial } from '../use-trial.ts';

/** What a stage of the draft does to the last captured request, or to what is tried. */
export const StageEffect = ({
  at,
  trial,
  isAround,
}: {
  readonly at: number;
  readonly trial: Trial;
  readonly isAround: boolean;
}) => {
  const { outcome, busy } = trial;
  const { stages, relays, conditions } = outcome?.explanation ?? {};
  const unmet = conditions?.find(({ entry, holds }) => entry === `transformers[${at}]` && !holds);
  const step = stages?.find(({ entry }) => entry === `transformers[${at}]`);
  return (
    <div className="stack-tight">
      <div className="row">
        <Button icon="play" busy={busy} onClick={trial.takeCaptured}>
          Show on last request
        </Button>
      </div>
      {outcome?.error !== undefined && <Notice kind="failed">{outcome.error}</Notice>}
      {step && <DiffView label="Before and after" before={step.before} after={step.after} />}
      {stages && !step && (
        <p className="soft">
          {unmet
            ? `Left out: its condition does not hold (${unmet.because}).`
            : isAround
              ? 'This stage is around the call: a dry run leaves it out. A captured request shows what it passed on, what it answered, and its calls.'
              : relays?.request
                ? 'The tried request passes through unchanged: no stage runs on it.'
                : 'The tried request does not pass this stage: it goes to another destination, or the stage works on answers alone.'}
        </p>
      )}
    </div>
  );
};
