import { ConfigPage } from '../../config/config-page.tsx';
import { OwnRules } from './own-rules.tsx';
import { PoolsPanel } from './pools-panel.tsx';
import { ScenariosPanel } from './scenarios-panel.tsx';
import { TryRequest } from './try-request.tsx';
import './routing.css';

/** The routing page. */
export const Routing = () => (
  <ConfigPage
    title="Routing"
    about="Decides which model serves a request. A request for provider,model goes exactly there."
  >
    <OwnRules />
    <ScenariosPanel about="Those without a destination are skipped." />
    <PoolsPanel />
    <TryRequest />
  </ConfigPage>
);
