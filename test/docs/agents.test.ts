import { readFileSync } from 'node:fs';
import test from 'ava';
import { clients } from '../../engine/cli/commands/clients/clients.ts';

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
const page = read('agents.md');

const agents = clients.filter(({ commands }) => commands.length > 0);

/** The text below the heading of an agent. */
const sectionOf = (title: string): string => page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';

test('the page on agents has a section for each that the commands know, with its command', (t) => {
  for (const { title, name, commands, setUpByHand } of agents) {
    const command = setUpByHand ? `junctor env --for ${name}` : `junctor run ${commands[0]}`;
    t.true(sectionOf(title).includes(command), title);
  }
});

test('the page says of each agent whether it was tried, as the table of running does', (t) => {
  const tried = new Map(
    [...read('running.md').matchAll(/^\|(`[^|]+)\|[^|]*\|[^|]*\|([^|]+)\|$/gm)].flatMap(([, names = '', last = '']) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => [name, last] as const),
    ),
  );
  for (const { title, name } of agents) {
    // One row is for Cline and Zed, of which the former was tried.
    const isTried = tried.get(name) !== 'no' && name !== 'zed';
    t.is(/^(?:Tried|The CLI was tried)\./m.test(sectionOf(title)), isTried, title);
    t.is(/^Untried\./m.test(sectionOf(title)), !isTried, title);
  }
});
