import { useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import type { ProviderFile } from '../../api/config/config.ts';
import { fetchModels, type ProviderModels } from '../../api/config/providers.ts';
import { useForm } from '../../config/fields/form.ts';
import { counted } from '../../format/count.ts';
import { Button } from '../../parts/controls/button.tsx';
import { CheckField, TextField } from '../../parts/controls/field.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';

/** Fetches the provider's own list of models, to pick from. */
export const FetchModels = ({
  provider,
  picked,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly picked: readonly string[];
  readonly onChange: (models: readonly string[]) => void;
}) => {
  const [answer, setAnswer] = useState<ProviderModels>();
  const [filter, setFilter] = useState('');
  // Fetched once, with the values at that time.
  const { config, inherited } = useForm();
  const asked = useRef({ provider, transformers: config.transformers ?? inherited?.transformers ?? [] });
  useEffect(() => {
    const leaving = new AbortController();
    fetchModels(asked.current, leaving.signal).then(setAnswer, (error: unknown) => {
      if (!isAbort(error)) setAnswer({ ok: false, models: [], message: wordError(error) });
    });
    return () => leaving.abort();
  }, []);
  if (!answer) return <Loading what="the provider’s models" />;
  if (!answer.ok) {
    return (
      <Notice kind="failed" title="Could not fetch the list">
        {answer.message} You can still type model names above.
      </Notice>
    );
  }
  const fitting = answer.models.filter((model) => model.toLowerCase().includes(filter.toLowerCase()));
  const missing = fitting.filter((model) => !picked.includes(model));
  return (
    <fieldset className="fetched">
      <legend className="unseen">Models listed by the provider</legend>
      <div className="row">
        <TextField label="Filter the list" unlabelled placeholder="Filter" value={filter} onChange={setFilter} />
        <span className="soft small" role="status">
          {counted(fitting.length, 'model')}
        </span>
        <Button className="row-end" disabled={missing.length === 0} onClick={() => onChange([...picked, ...missing])}>
          Add all shown
        </Button>
      </div>
      <div className="fetched-list">
        {fitting.map((model) => (
          <CheckField
            key={model}
            label={model}
            checked={picked.includes(model)}
            onChange={(isPicked) => onChange(isPicked ? [...picked, model] : picked.filter((one) => one !== model))}
          />
        ))}
      </div>
    </fieldset>
  );
};
