import { ConfigPage } from '../../config/config-page.tsx';
import type { PageProps } from '../page.ts';
import { PresetPage } from './presets/preset-page.tsx';
import { PresetSwitch } from './presets/preset-switch.tsx';
import { RoutingEditor } from './routing-editor.tsx';
import './routing.css';

/** The routing page: the base, or the preset that the address names. */
export const Routing = ({ query }: PageProps) => {
  const preset = query.get('preset');
  if (preset !== null) return <PresetPage key={preset} name={preset} />;
  return (
    <ConfigPage title="Routing" about="Which model serves a request" actions={<PresetSwitch shown={undefined} />}>
      <RoutingEditor />
    </ConfigPage>
  );
};
