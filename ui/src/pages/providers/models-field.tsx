import { useCallback, useState } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import { fetchModels } from '../../api/config/providers.ts';
import { useLoad } from '../../api/use-load.ts';
import { useForm } from '../../config/fields/form.ts';
import { ModelPicker } from '../../config/fields/model-picker.tsx';
import { modelNames } from '../../config/models.ts';
import { Button } from '../../parts/controls/button.tsx';

/** The models of a provider: typed, or picked from its own list, which is fetched with the values of the draft. */
export const ModelsField = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  /** Gets the names. */
  readonly onChange: (models: readonly string[]) => void;
}) => {
  const { config, inherited } = useForm();
  const [asked, setAsked] = useState<Parameters<typeof fetchModels>[0]>();
  const load = useCallback(async (signal: AbortSignal) => asked && fetchModels(asked, signal), [asked]);
  const list = useLoad(load, undefined, asked !== undefined);
  return (
    <div className="stack-tight">
      <ModelPicker
        path={`${path}.models`}
        listed={list.data?.models ?? []}
        picked={modelNames(provider)}
        problem={list.error ?? (list.data?.ok === false ? list.data.message : undefined)}
        loading={asked !== undefined && list.loading}
        onChange={onChange}
      />
      <div className="row">
        <Button
          icon="search"
          onClick={() => setAsked({ provider, transformers: config.transformers ?? inherited?.transformers ?? [] })}
        >
          Fetch from provider
        </Button>
      </div>
    </div>
  );
};
