import type { ReactNode } from 'react';
import { protocolPaths, protocols, protocolTitles } from '../../api/protocols.ts';
import { useForm } from '../../config/fields/form.ts';
import { rules } from '../../config/rules.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { href } from '../../router/route.ts';
import type { PlacedNode } from './drawing/lay-out.ts';
import type { RoutingNode } from './drawing/routing-graph.ts';
import { askingStagesOf, stagesOf, textOfAsking } from './drawing/stages-of.ts';
import { PoolForm } from './rules/pool-form.tsx';
import { RouterModule } from './rules/router-module.tsx';
import { RuleForm } from './rules/rule-form.tsx';
import { ScenarioForm } from './rules/scenario-form.tsx';
import { StagesEditor } from './stages/stages-editor.tsx';
import { useRoutingConfig, useRoutingLists } from './use-routing-config.ts';
import type { Trial } from './use-trial.ts';

interface EditorProps {
  /** The chosen node's id. */
  readonly id: string;
  readonly node: RoutingNode | PlacedNode | undefined;
  readonly trial: Trial;
  readonly onChoose: (id: string | undefined) => void;
}

/** Edits the node that is chosen in the drawing. */
export const NodeEditor = (props: EditorProps) => {
  const [kind = '', ...rest] = props.id.split('/');
  const name = rest.join('/');
  switch (kind) {
    case 'rule':
      // Without a key of its own: a rule that is moved keeps the focus.
      return <RuleEditor {...props} at={Number(name)} />;
    case 'scenario': {
      const rule = rules.find((one) => one.name === name);
      return rule ? (
        <Frame {...props} title={rule.title}>
          <ScenarioForm key={name} rule={rule} />
        </Frame>
      ) : null;
    }
    case 'module':
      return (
        <Frame {...props} title="Router module">
          <RouterModule />
        </Frame>
      );
    case 'pool':
      return <PoolEditor key={props.id} {...props} at={Number(name)} />;
    case 'stages':
      return (
        <Frame {...props} title="Stages">
          <StagesEditor trial={props.trial} />
        </Frame>
      );
    default:
      return (
        <Frame {...props} title={props.node?.title ?? 'Not there any more'}>
          <About {...props} kind={kind} name={name} />
        </Frame>
      );
  }
};

/** The title of what is edited, with its tools. */
const Frame = ({
  title,
  tools,
  onChoose,
  children,
}: EditorProps & { readonly title: string; readonly tools?: ReactNode; readonly children: ReactNode }) => (
  <div className="routing-editor">
    <header className="routing-editor-head">
      <h2 className="cut" title={title}>
        {title}
      </h2>
      <span className="row row-end">
        {tools}
        <IconButton icon="close" label="Back to the drawing" onClick={() => onChoose(undefined)} />
      </span>
    </header>
    {children}
  </div>
);

/** The address may name what was removed since. */
const Gone = (props: EditorProps) => (
  <Frame {...props} title="Not there any more">
    <p className="soft">It was removed, or has moved. Choose another box in the drawing.</p>
  </Frame>
);

const RuleEditor = ({ at, ...props }: EditorProps & { readonly at: number }) => {
  const { rules: list, set } = useRoutingLists();
  const rule = list[at];
  if (!rule) return <Gone {...props} />;
  const move = (to: number): void => {
    set('rules', list.toSpliced(at, 1).toSpliced(to, 0, rule));
    props.onChoose(`rule/${to}`);
  };
  const name = typeof rule.name === 'string' && rule.name !== '' ? rule.name : 'the new rule';
  return (
    <Frame
      {...props}
      title={name === 'the new rule' ? 'New rule' : name}
      tools={
        <>
          <IconButton icon="up" label={`Move ${name} up`} disabled={at === 0} onClick={() => move(at - 1)} />
          <IconButton
            icon="down"
            label={`Move ${name} down`}
            disabled={at === list.length - 1}
            onClick={() => move(at + 1)}
          />
          <IconButton
            icon="remove"
            label={`Remove ${name}`}
            onClick={() => {
              set('rules', list.toSpliced(at, 1));
              props.onChoose(undefined);
            }}
          />
        </>
      }
    >
      <RuleForm rule={rule} at={at} onChange={(next) => set('rules', list.with(at, next))} />
    </Frame>
  );
};

const PoolEditor = ({ at, ...props }: EditorProps & { readonly at: number }) => {
  const { pools: list, set } = useRoutingLists();
  const pool = list[at];
  if (!pool) return <Gone {...props} />;
  return (
    <Frame
      {...props}
      title={pool.name ? `Pool ${pool.name}` : 'New pool'}
      tools={
        <IconButton
          icon="remove"
          label={`Remove ${pool.name || 'the new pool'}`}
          onClick={() => {
            set('pools', list.toSpliced(at, 1));
            props.onChoose(undefined);
          }}
        />
      }
    >
      <p className="soft">
        Several destinations under one name: the pool chooses one for each request, and another if that fails.
      </p>
      <PoolForm pool={pool} at={at} onChange={(next) => set('pools', list.with(at, next))} />
    </Frame>
  );
};

/** What isn't edited here: where it is, and what is known of it. */
const About = ({ kind, name, node, onChoose }: EditorProps & { readonly kind: string; readonly name: string }) => {
  const { transformers } = useForm();
  const config = useRoutingConfig();
  if (kind === 'client') {
    const protocol = protocols.find((one) => one === name);
    return protocol ? (
      <p>
        Requests in {protocolTitles[protocol]} come to <code>{protocolPaths[protocol]}</code>.{' '}
        <a href={href('/clients')}>Set up a client</a>
      </p>
    ) : null;
  }
  if (kind === 'named' || kind === 'directly') {
    return (
      <p>
        A request whose model is <code>provider,model</code>, or a model that one provider alone lists, goes exactly
        there: no rule is asked, and there are no fallbacks.
      </p>
    );
  }
  const [, pool = '', member = ''] = kind === 'member' ? [kind, ...name.split('/')] : [];
  const destination = kind === 'member' ? (config.Pools?.[Number(pool)]?.members?.[Number(member)]?.to ?? '') : name;
  const comma = destination.indexOf(',');
  const [provider, model] = [destination.slice(0, comma), destination.slice(comma + 1)];
  const stages = stagesOf(config, transformers, provider, model);
  const asking = askingStagesOf(config, transformers, provider, model);
  return (
    <div className="stack">
      <p>
        <code>{destination}</code>
      </p>
      <p className="soft">
        {node && node.requests > 0
          ? `${node.requests} of the latest requests went there, ${node.failed} failed.`
          : 'None of the latest requests went there.'}
      </p>
      <p>
        {stages.length === 0 ? 'No stage applies to it.' : `Stages: ${stages.join(', ')}.`}{' '}
        <Button look="quiet" onClick={() => onChoose('stages')}>
          Edit the stages
        </Button>
      </p>
      {asking.length > 0 && (
        <ul aria-label="Stages that wrap the call or ask">
          {asking.map((stage, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a stage may come twice; the list never changes
            <li key={at}>{textOfAsking(stage)}</li>
          ))}
        </ul>
      )}
      {kind === 'member' && (
        <Button look="quiet" onClick={() => onChoose(`pool/${pool}`)}>
          Edit its pool
        </Button>
      )}
      <p className="row">
        <a href={href('/providers')}>Its provider</a>
        <a href={`${href('/playground')}?${new URLSearchParams({ model: destination })}`}>Open in the playground</a>
      </p>
    </div>
  );
};
