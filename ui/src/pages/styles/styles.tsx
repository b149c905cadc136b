import { useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { CheckField, NumberField, SecretField, SelectField, TextArea, TextField } from '../../parts/controls/field.tsx';
import { Finder } from '../../parts/controls/finder.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Split } from '../../parts/layout/split.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { FilterChips } from '../../parts/table/filter-chips.tsx';
import { Badge, Dot, Lamp, type Tone } from '../../parts/text/badge.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { Figures } from '../../parts/text/figures.tsx';
import { changeQuery, href, route } from '../../router/route.ts';
import { useStore } from '../../state/store.ts';
import './styles.css';

/** Every part in every state, for development: what is changed here changes on all pages. */
export const Styles = () => (
  <>
    <PageBar title="Styles" about="Every part in every state" actions={<Button look="primary">Main action</Button>} />
    <Colours />
    <Texts />
    <Controls />
    <Fields />
    <Messages />
    <Lists />
  </>
);

const colours = [
  'paper',
  'side',
  'inset',
  'raised',
  'line',
  'edge',
  'ink',
  'ink-soft',
  'accent',
  'accent-soft',
  'ok',
  'warn',
  'bad',
  'series-1',
  'series-2',
  'series-3',
  'series-4',
  'series-5',
  'series-6',
] as const;

const Colours = () => (
  <Panel title="Colours">
    <div className="styles-swatches">
      {colours.map((name) => (
        <Swatch key={name} name={name} />
      ))}
    </div>
  </Panel>
);

const Swatch = ({ name }: { readonly name: string }) => {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.style.setProperty('background', `var(--${name})`), [name]);
  return (
    <div>
      <div ref={box} className="styles-swatch" />
      <p className="small">{name}</p>
    </div>
  );
};

const tones: readonly Tone[] = ['plain', 'accent', 'ok', 'warn', 'bad'];

const Texts = () => (
  <Panel title="Texts">
    <Figures
      figures={[
        { title: 'Spent', value: '$16.33', note: '+12 % on the week before' },
        { title: 'Requests', value: '5,264' },
        {
          title: 'First byte',
          value: (
            <>
              316 <span className="unit">ms</span>
            </>
          ),
        },
      ]}
    />
    <h1>Title, 16 px</h1>
    <h2>Heading, 13 px</h2>
    <p>
      Body, 13 px, with a <a href="#/styles">link to this page</a>, <code>code</code> and <kbd>Ctrl</kbd>.
    </p>
    <p className="small soft">Table and note, 12 px</p>
    <p className="row">
      {tones.map((tone) => (
        <Badge key={tone} tone={tone}>
          {tone}
        </Badge>
      ))}
      {tones.map((tone) => (
        <Lamp key={tone} tone={tone}>
          {tone}
        </Lamp>
      ))}
      {tones.map((tone) => (
        <Dot key={tone} tone={tone} title={tone} pulse={tone === 'accent'} />
      ))}
    </p>
    <CodeBlock label="Text to copy" text="export ANTHROPIC_BASE_URL=http://127.0.0.1:3456" />
  </Panel>
);

const Controls = () => {
  const [picked, setPicked] = useState<'one' | 'two' | 'three'>('one');
  const [isOpen, setOpen] = useState(false);
  const [on, setOn] = useState<readonly string[]>(['failed']);
  return (
    <Panel title="Controls">
      <div className="row">
        <Button look="primary">Primary</Button>
        <Button>Plain</Button>
        <Button look="quiet">Quiet</Button>
        <Button look="danger">Danger</Button>
        <Button busy>Busy</Button>
        <Button disabled>Disabled</Button>
        <Button icon="reload">With an icon</Button>
        <IconButton icon="edit" label="Edit" />
        <CopyButton text="text" />
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
      </div>
      <FilterChips
        label="Filters"
        chips={[
          { key: 'failed', label: 'Failed', count: 29, tone: 'bad', on: on.includes('failed') },
          { key: '429', label: '429', count: 6, on: on.includes('429') },
          { key: 'long', label: 'a-client-with-a-name-that-is-too-long', count: 12_345, on: on.includes('long') },
        ]}
        onToggle={(key, isOn) => setOn(isOn ? [...on, key] : on.filter((one) => one !== key))}
      />
      <Segmented label="Choice" options={choices} value={picked} onChange={setPicked} />
      <Tabs
        label="Tabs"
        tabs={choices.map(({ value, label }) => ({ name: value, title: label }))}
        shown={picked}
        onShow={setPicked}
      >
        <p>View {picked}</p>
      </Tabs>
      {isOpen && (
        <Dialog
          title="A question"
          onClose={() => setOpen(false)}
          actions={
            <Button look="primary" onClick={() => setOpen(false)}>
              Done
            </Button>
          }
        >
          <TextField label="Name" value="" onChange={() => undefined} />
          <Finder
            label="One of many"
            choices={choices.map(({ label }) => ({ kind: 'Number', title: label }))}
            onChoose={() => setOpen(false)}
          />
        </Dialog>
      )}
    </Panel>
  );
};

const choices = [
  { value: 'one', label: 'One' },
  { value: 'two', label: 'Two' },
  { value: 'three', label: 'Three' },
] as const;

const Fields = () => {
  const [text, setText] = useState('');
  const [number, setNumber] = useState<number>();
  const [isChecked, setChecked] = useState(false);
  const [choice, setChoice] = useState<'one' | 'two' | 'three'>('one');
  return (
    <Panel title="Fields" className="narrow">
      <div className="form-grid">
        <TextField label="Text" hint="What belongs in it" placeholder="Placeholder" value={text} onChange={setText} />
        <TextField label="With an error" error="must not be blank" value="" onChange={() => undefined} />
        <TextField label="Disabled" disabled value="Value" onChange={() => undefined} />
        <NumberField label="Number" value={number} onChange={setNumber} />
        <SelectField label="Choice" options={choices} value={choice} onChange={setChoice} />
        <SecretField label="Key" value="sk-secret" onChange={() => undefined} />
        <CheckField label="Check" hint="On or off" checked={isChecked} onChange={setChecked} />
      </div>
      <TextArea label="Lines" value={text} onChange={setText} />
    </Panel>
  );
};

const Messages = () => (
  <Panel title="Messages">
    <Notice title="Information">What is good to know.</Notice>
    <Notice kind="done" title="Done">
      What was done.
    </Notice>
    <Notice kind="warn" title="Warning">
      What may go wrong.
    </Notice>
    <LoadFailed what="the list" error="The gateway has not answered within 5 s." onRetry={() => undefined} />
    <Loading what="the list" />
    <Empty title="Nothing here yet" actions={<Button>Do something</Button>}>
      What would be here, and how it gets here.
    </Empty>
    <Fold title="More">What was folded.</Fold>
  </Panel>
);

interface SampleRow {
  readonly name: string;
  readonly tokens: number;
  readonly tone: Tone;
}

const sampleRows: readonly SampleRow[] = Array.from({ length: 200 }, (_, at) => ({
  name: at === 2 ? 'a-row-with-a-name-that-is-far-too-long-for-its-column'.repeat(3) : `Row ${at + 1}`,
  tokens: (at * 7_919) % 10_000,
  tone: tones[at % tones.length] ?? 'plain',
}));

const sampleColumns: readonly Column<SampleRow>[] = [
  { name: 'state', title: '', width: '2rem', cell: ({ tone }) => <Dot tone={tone} title={tone} /> },
  { name: 'name', title: 'Name', cell: ({ name }) => name },
  { name: 'tokens', title: 'Tokens', width: '6rem', numeric: true, cell: ({ tokens }) => tokens },
];

const Lists = () => {
  const open = useStore(route).query.get('row');
  return (
    <Split
      name="styles"
      label="the open row"
      side={
        open !== null && (
          <div className="stack">
            <Button onClick={() => changeQuery({ row: '' })}>Close</Button>
            {open}
          </div>
        )
      }
    >
      <DataTable
        lines
        label="Rows"
        columns={sampleColumns}
        rows={sampleRows}
        rowKey={({ name }) => name}
        open={({ name }) => `${href('/styles')}?${new URLSearchParams({ row: name })}`}
        current={({ name }) => name === open}
        empty={<Empty title="No rows" />}
      />
    </Split>
  );
};
