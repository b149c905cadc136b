import { ConfigPage } from '../../config/config-page.tsx';
import { rules } from '../../config/rules.ts';
import { Panel } from '../../parts/panel.tsx';
import { OwnRules } from './own-rules.tsx';
import { PoolsPanel } from './pools-panel.tsx';
import { RuleRow } from './rule-row.tsx';
import { TryRequest } from './try-request.tsx';
import './routing.css';

/** The routing page. */
export const Routing = () => (
  <ConfigPage
    title="Routing"
    about="Decides which model serves a request. A request for provider,model goes exactly there."
  >
    <OwnRules />
    <Panel
      flush
      title="Scenarios"
      about="Checked from top to bottom; those without a destination are skipped. Fallbacks are tried in order when a destination fails."
    >
      <ul className="rules">
        {rules.map((rule) => (
          <RuleRow key={rule.name} rule={rule} />
        ))}
      </ul>
    </Panel>
    <PoolsPanel />
    <TryRequest />
  </ConfigPage>
);
