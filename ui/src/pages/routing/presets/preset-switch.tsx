import { useState } from 'react';
import { listPresets } from '../../../api/config/presets.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Button, IconButton } from '../../../parts/controls/button.tsx';
import { SelectField } from '../../../parts/controls/field.tsx';
import { Segmented } from '../../../parts/controls/segmented.tsx';
import { href, navigate } from '../../../router/route.ts';
import { NewPreset } from './new-preset.tsx';

/** Up to so many presets stand beside each other; more are a list. */
const mostBeside = 4;

/** The address of the routing of a preset, or of the base. */
export const presetAddress = (name: string): string =>
  name === '' ? href('/routing') : `${href('/routing')}?${new URLSearchParams({ preset: name })}`;

/** Switches between the base and the presets, and makes one. */
export const PresetSwitch = ({ shown = '' }: { readonly shown?: string | undefined }) => {
  const { data = [], error, reload } = useLoad(listPresets);
  const [makes, setMakes] = useState(false);
  const names = data.map(({ name }) => name);
  const isNew = shown !== '' && !names.includes(shown);
  const options = [
    { value: '', label: 'Base' },
    ...[...names, ...(isNew ? [shown] : [])].map((name) => {
      const isFaulty = data.some((one) => one.name === name && (one.faults ?? []).length > 0);
      return { value: name, label: isFaulty ? `${name} (invalid)` : name };
    }),
  ];
  const Control =
    options.length <= mostBeside && options.every(({ label }) => label.length < 24) ? Segmented : undefined;
  return (
    <>
      {error !== undefined && (
        <Button look="quiet" icon="reload" title={error} onClick={reload}>
          Presets not loaded: try again
        </Button>
      )}
      {Control ? (
        <Control label="Preset" value={shown} options={options} onChange={(name) => navigate(presetAddress(name))} />
      ) : (
        <SelectField
          label="Preset"
          unlabelled
          value={shown}
          options={options}
          onChange={(name) => navigate(presetAddress(name))}
        />
      )}
      <IconButton icon="add" label="New preset" onClick={() => setMakes(true)} />
      {makes && (
        <NewPreset
          title="New preset"
          taken={names}
          onName={(name) => navigate(presetAddress(name))}
          onClose={() => setMakes(false)}
        />
      )}
    </>
  );
};
