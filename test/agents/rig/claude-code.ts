import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Agent, answer, call, done, hasText, mainTask, type Scenario, toolLoop } from './agent.ts';
import { harmful } from './judge.ts';
import { picture, sight } from './seer.ts';

const mcpServer = resolve(import.meta.dirname, '../mcp-server.js');

const echo = (words: string) => ({ command: `echo ${words}`, description: 'Says a word' });

const scenarios: readonly Scenario[] = [
  {
    name: 'a text',
    script: (_seen, tag) => answer({ text: `Hello, ${tag}!` }),
    says: (tag) => [new RegExp(`Hello, ${tag}!`)],
    requests: 1,
  },
  toolLoop(/^Bash$/, (command) => ({ command, description: 'Runs it' })),
  {
    name: 'a tool of an MCP server',
    mcp: true,
    env: { ENABLE_TOOL_SEARCH: '0' },
    script: (seen, tag) => (seen.results.length === 0 ? call(seen, [/mcp__demo__lookup$/, { key: tag }]) : done(seen)),
    says: (tag) => [new RegExp(`DONE lookup found .*value-of-${tag}`)],
    requests: 2,
  },
  {
    name: 'a search for tools',
    mcp: true,
    script(seen, tag) {
      switch (seen.results.length) {
        case 0:
          return call(seen, [/^ToolSearch$/, { query: 'select:mcp__demo__lookup' }]);
        case 1:
          return call(seen, [/mcp__demo__lookup$/, { key: tag }]);
        default:
          return done(seen);
      }
    },
    says: (tag) => [new RegExp(`DONE[^|]*mcp__demo__lookup[^|]*\\| lookup found .*value-of-${tag}`)],
    requests: 3,
  },
  {
    name: 'auto mode: a call that the judge lets pass',
    isJudged: true,
    oncePerFormat: true,
    script: (seen, tag) => (seen.results.length === 0 ? call(seen, [/^Bash$/, echo(`passed-${tag}`)]) : done(seen)),
    says: (tag) => [new RegExp(`DONE passed-${tag} END`)],
    requests: 2,
  },
  {
    name: 'auto mode: a call that the judge flags',
    isJudged: true,
    oncePerFormat: true,
    script: (seen, tag) => (seen.results.length === 0 ? call(seen, [/^Bash$/, echo(`${harmful}-${tag}`)]) : done(seen)),
    says: () => [/DONE [^|]*auto mode classifier[^|]*The judge of the tests says so[^|]*END/],
    requests: 2,
  },
  {
    name: 'a web search',
    searches: true,
    oncePerFormat: true,
    env: { ENABLE_TOOL_SEARCH: '0' },
    script(seen, tag) {
      // The search is a request of its own, which has nothing but the tool for it.
      if (seen.tools.length > 1) {
        return seen.results.length === 0 ? call(seen, [/^WebSearch$/, { query: `first ${tag}` }]) : done(seen);
      }
      return seen.results.length === 0
        ? call(seen, [/^web_search$/, { query: `second ${tag}` }])
        : answer({ text: `The page says: ${seen.results.join()}` });
    },
    says: (tag) => [new RegExp(`DONE[^]*https://found\\.example/second%20${tag}[^]*excerpt of second ${tag}[^]*END`)],
    requests: 4,
  },
  {
    name: 'a picture, for a model that reads text only',
    oncePerFormat: true,
    script: (seen) => (seen.results.length === 0 ? call(seen, [/^Read$/, { file_path: picture }]) : done(seen)),
    says: () => [new RegExp(`DONE \\[A picture\\.[^|]*: "${sight}"\\] END`)],
    requests: 2,
  },
  {
    name: 'a sub-agent',
    script(seen, tag) {
      if (!hasText(seen, mainTask(tag))) return answer({ thinking: 'Easy.', text: `The sub-agent saw ${tag}.` });
      if (seen.results.length > 0) return done(seen);
      const prompt = `SUB-TASK ${tag}`;
      return call(seen, [
        /^Agent$/,
        { description: 'Looks', prompt, subagent_type: 'general-purpose', run_in_background: false },
      ]);
    },
    says: (tag) => [new RegExp(`DONE[^]*The sub-agent saw ${tag}`)],
    requests: 3,
  },
  {
    name: 'a conversation that becomes too long',
    script(seen, tag) {
      const last = seen.texts.at(-1) ?? '';
      if (/summary/i.test(last) && !last.includes('The summary of')) {
        return answer({ text: `<summary>The summary of ${tag}</summary>` });
      }
      if (hasText(seen, `The summary of ${tag}`)) return done(seen);
      if (seen.results.length === 3) return { type: 'overflow' };
      return call(seen, [/^Bash$/, echo(`${seen.results.length}-${tag}`)]);
    },
    says: () => [/DONE/],
    requests: 7,
  },
  {
    name: 'a broken stream',
    script(_seen, tag, request) {
      const scripted = { text: `Hello, ${tag}! `.repeat(20) };
      return request === 1 ? { type: 'break', scripted } : answer(scripted);
    },
    says: (tag) => [new RegExp(`(?:Hello, ${tag}! ?){20}`)],
    requests: 2,
  },
];

/** Claude Code. Source: its documentation, "LLM gateway configuration", "Environment variables", "CLI reference". */
export const claudeCode: Agent = {
  name: 'Claude Code',
  command: 'claude',
  scenarios,
  async setUp({ home, gatewayUrl }, { model, mcp, isJudged, env, args = [] }, prompt) {
    const servers = mcp ? { demo: { command: 'node', args: [mcpServer] } } : {};
    const mcpConfig = join(home, 'mcp.json');
    await writeFile(mcpConfig, JSON.stringify({ mcpServers: servers }));
    return {
      args: [
        ...['-p', '--strict-mcp-config', '--mcp-config', mcpConfig],
        ...(isJudged ? ['--permission-mode', 'auto'] : ['--dangerously-skip-permissions']),
        ...(model ? ['--model', model] : []),
        ...args,
        // The servers' list takes all words up to the next option.
        ...['--', prompt],
      ],
      env: {
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        ANTHROPIC_BASE_URL: gatewayUrl,
        ANTHROPIC_AUTH_TOKEN: 'dead-key',
        // The permissions' check is left out for the superuser only where this says that nothing can be harmed.
        IS_SANDBOX: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '2',
        ...env,
      },
    };
  },
};
