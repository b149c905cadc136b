import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { ownRulesOf, valueToTexts, withOwnRules } from '../../config/conditions.ts';
import { useForm } from '../../config/fields/form.ts';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SortableList } from '../../parts/controls/sortable-list.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { useOpenRows, useRows } from '../../state/use-rows.ts';
import { RouterModule } from './router-module.tsx';
import { RuleForm } from './rule-form.tsx';

/** The user's own rules, in order. */
export const OwnRules = () => {
  const { config, change } = useForm();
  const list = ownRulesOf(config);
  const rows = useRows(list, (next) => change((before) => withOwnRules(before, next)));
  const { open, show } = useOpenRows();
  return (
    <Panel
      title="Your rules"
      about="Checked from top to bottom, before the scenarios. The first rule whose condition holds decides."
    >
      {list.length === 0 && <Empty title="No rules of your own">Requests are routed by the scenarios below.</Empty>}
      {list.map((_, at) => (
        <WantedRule key={rows.keys[at]} path={`Router.rules[${at}]`} show={() => show(rows.keys[at], true)} />
      ))}
      <SortableList
        label="Your rules"
        rows={list.map((rule, at) => {
          const key = rows.keys[at] ?? at;
          const name = typeof rule.name === 'string' && rule.name !== '' ? rule.name : 'the new rule';
          return {
            key,
            name,
            path: `Router.rules[${at}]`,
            open: open.has(key),
            onToggle: () => show(key, !open.has(key)),
            head: <RuleHead rule={rule} name={name} />,
            body: <RuleForm rule={rule} at={at} onChange={(next) => rows.set(at, next)} />,
          };
        })}
        onMove={rows.move}
        onRemove={rows.remove}
      />
      <div className="row">
        <Button
          icon="add"
          data-path="Router.rules"
          onClick={() => show(rows.add({ name: '', when: {}, to: '' }), true)}
        >
          Add a rule
        </Button>
      </div>
      <RouterModule />
    </Panel>
  );
};

const RuleHead = ({ rule, name }: { readonly rule: JsonObject; readonly name: string }) => {
  const members = Object.keys(isJsonObject(rule.when) ? rule.when : {});
  const [destination = ''] = valueToTexts(rule.to);
  return (
    <>
      <strong>{name}</strong>{' '}
      <span className="soft small">
        {members.length === 0 ? 'every request' : members.join(', ')}
        {destination !== '' && ` → ${destination}`}
      </span>
    </>
  );
};

/** Opens the rule of the field to focus. */
const WantedRule = ({ path, show }: { readonly path: string; readonly show: () => void }) => {
  useWanted(path, show);
  return null;
};
