import { ConfigPage } from '../../config/config-page.tsx';
import { rules } from '../../config/rules.ts';
import { Panel } from '../../parts/panel.tsx';
import { RuleRow } from './rule-row.tsx';
import { TryRequest } from './try-request.tsx';
import './routing.css';

/** Who gets which request. */
export const Routing = () => (
  <ConfigPage title="Routing" about="Who gets which request. A request that names provider,model goes exactly there.">
    <Panel
      flush
      title="Rules"
      about="Scenarios are tried from top to bottom; one without a destination is skipped. Fallbacks are asked in their order when a destination can not serve."
    >
      <ul className="rules">
        {rules.map((rule) => (
          <RuleRow key={rule.name} rule={rule} />
        ))}
      </ul>
    </Panel>
    <TryRequest />
  </ConfigPage>
);
