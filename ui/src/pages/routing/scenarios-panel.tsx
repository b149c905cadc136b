import { rules } from '../../config/rules.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { RuleRow } from './rule-row.tsx';
import './routing.css';

/** The default and the scenarios, with their destinations and fallbacks. */
export const ScenariosPanel = ({ about }: { readonly about: string }) => {
  const [byDefault, ...scenarios] = rules;
  return (
    <Panel
      flush
      title="Scenarios"
      about={`The first scenario that fits a request decides; without one, the default does. ${about} Fallbacks are tried in order when a destination fails.`}
    >
      <ol className="rules">
        {scenarios.map((rule) => (
          <RuleRow key={rule.name} rule={rule} />
        ))}
        {byDefault && <RuleRow rule={byDefault} />}
      </ol>
    </Panel>
  );
};
