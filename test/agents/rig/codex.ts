import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Agent, answer, call, done, hasText, mainTask, type Scenario, toolLoop } from './agent.ts';
import { harmful } from './judge.ts';

const mcpServer = resolve(import.meta.dirname, '../mcp-server.js');

/** Codex declares other tools for names that it knows than for those that it doesn't. */
const names = { codeMode: 'gpt-6.2-sol', toolSearch: 'gpt-5.5', unknown: 'glm-5.3' } as const;

/** The free text of a custom tool is its one argument toward vendors that have functions alone. */
const javaScript = (lines: string) => ({ input: lines });

const patch = (tag: string): string =>
  ['*** Begin Patch', '*** Add File: new.txt', `+written ${tag}`, '*** End Patch', ''].join('\n');

/** What depends on the connection: run over HTTP, over WebSocket, and over HTTP after a refused upgrade. */
const conversations: readonly Scenario[] = [
  {
    name: 'a text',
    script: (_seen, tag) => answer({ text: `Hello, ${tag}!` }),
    says: (tag) => [new RegExp(`Hello, ${tag}!`)],
    requests: 1,
  },
  {
    name: 'a tool loop in code mode',
    mcp: true,
    script(seen, tag) {
      switch (seen.results.length) {
        case 0:
          return call(seen, [
            /(?:^|_|\.)exec$/,
            javaScript(`const said = await tools.exec_command({ cmd: "echo one-${tag}" }); text(said.output ?? said);`),
          ]);
        case 1:
          return call(seen, [
            /(?:^|_|\.)exec$/,
            javaScript(`const found = await tools.mcp__demo__lookup({ key: "${tag}" }); text(found);`),
          ]);
        default:
          return done(seen);
      }
    },
    says: (tag) => [new RegExp(`DONE[^|]*one-${tag}[^|]*\\|[^]*value-of-${tag}`)],
    requests: 3,
  },
  { ...toolLoop(/exec_command$/, (cmd) => ({ cmd })), model: names.unknown },
  {
    name: 'a sub-agent in code mode',
    script(seen, tag) {
      if (hasText(seen, `SUB-TASK ${tag}`)) return answer({ text: `The sub-agent saw ${tag}.` });
      if (hasText(seen, `The sub-agent saw ${tag}`)) return done(seen);
      return seen.results.length === 0
        ? call(seen, [/spawn_agent$/, { task_name: 'looks', message: `SUB-TASK ${tag}`, fork_turns: 'none' }])
        : call(seen, [/wait_agent$/, { timeout_ms: 20_000 }]);
    },
    says: () => [/DONE/],
    requests: 5,
  },
  {
    name: 'a sub-agent',
    model: names.unknown,
    script(seen, tag) {
      if (!hasText(seen, mainTask(tag))) return answer({ text: `The sub-agent saw ${tag}.` });
      if (seen.results.length === 0) return call(seen, [/spawn_agent$/, { message: `SUB-TASK ${tag}` }]);
      if (seen.results.some((result) => result.includes(`The sub-agent saw ${tag}`))) return done(seen);
      const [, id = 'none'] = /"agent_id"\s*:\s*"([^"]+)"/.exec(seen.results[0] ?? '') ?? [];
      return call(seen, [/wait_agent$/, { targets: [id], timeout_ms: 20_000 }]);
    },
    says: (tag) => [new RegExp(`DONE[^]*The sub-agent saw ${tag}`)],
    requests: 4,
  },
  {
    name: 'a conversation that it compacts',
    model: names.unknown,
    // Each answer of the simulated vendors counts 120 tokens.
    args: ['-c', 'model_auto_compact_token_limit=110'],
    script(seen, tag) {
      if (hasText(seen, `The summary of ${tag}`)) return done(seen);
      if (seen.results.length === 0) return call(seen, [/exec_command$/, { cmd: `echo one-${tag}` }]);
      return answer({ text: `The summary of ${tag}` });
    },
    says: () => [/DONE/],
    requests: 3,
  },
  {
    name: 'a conversation that it has compacted',
    model: names.unknown,
    // It asks only a provider of this name for a compaction.
    args: ['-c', 'model_auto_compact_token_limit=110', '-c', 'model_providers.gateway.name="OpenAI"'],
    script(seen, tag) {
      if (hasText(seen, `The summary of ${tag}`)) return done(seen);
      if (seen.results.length === 0) return call(seen, [/exec_command$/, { cmd: `echo one-${tag}` }]);
      // It asks the gateway, and doesn't have its own prompt answered.
      return hasText(seen, 'CONTEXT CHECKPOINT')
        ? answer({ text: 'ITS OWN' })
        : answer({ text: `The summary of ${tag}` });
    },
    says: () => [/DONE/],
    requests: 3,
  },
];

/** The scenario where Codex asks for a WebSocket connection; a provider of its own in the configuration is asked for one only so. */
const afterHandshake =
  (handshake: 101 | 426) =>
  ({ name, args = [], ...rest }: Scenario): Scenario => ({
    ...rest,
    name: `${name}, ${handshake === 101 ? 'over WebSocket' : 'after a refused upgrade'}`,
    args: [...args, '-c', 'model_providers.gateway.supports_websockets=true'],
    handshake,
    oncePerFormat: true,
  });

const scenarios: readonly Scenario[] = [
  ...conversations,
  ...conversations.map(afterHandshake(101)),
  ...conversations.map(afterHandshake(426)),
  ...[
    { name: 'auto review: a call that the judge lets pass', word: 'passed', says: /DONE[^|]*passed-CASE/ },
    {
      name: 'auto review: a call that the judge rejects',
      word: harmful,
      says: /unacceptable risk[\s\S]*judge of the tests/,
    },
  ].map(
    ({ name, word, says }): Scenario => ({
      name,
      model: names.toolSearch,
      isJudged: true,
      oncePerFormat: true,
      script: (seen, tag) =>
        seen.results.length === 0
          ? call(seen, [
              /exec_command$/,
              { cmd: `echo ${word}-${tag}`, sandbox_permissions: 'require_escalated', justification: 'for the test' },
            ])
          : done(seen),
      says: () => [says],
      requests: 2,
    }),
  ),
  {
    name: 'a custom tool',
    model: names.toolSearch,
    script(seen, tag) {
      switch (seen.results.length) {
        case 0:
          return call(seen, [/apply_patch$/, { input: patch(tag) }]);
        case 1:
          return call(seen, [/exec_command$/, { cmd: 'cat new.txt' }]);
        default:
          return done(seen);
      }
    },
    says: (tag) => [new RegExp(`DONE[^|]*new\\.txt[^|]*\\|[^]*written ${tag}`)],
    requests: 3,
  },
  {
    name: 'a tool of an MCP server',
    model: names.unknown,
    mcp: true,
    script: (seen, tag) => (seen.results.length === 0 ? call(seen, [/lookup$/, { key: tag }]) : done(seen)),
    says: (tag) => [new RegExp(`DONE[^|]*value-of-${tag}`)],
    requests: 2,
  },
  {
    name: 'a search for tools',
    model: names.toolSearch,
    mcp: true,
    script(seen, tag) {
      switch (seen.results.length) {
        case 0:
          return call(seen, [/^tool_search$/, { query: 'lookup value key', limit: 4 }]);
        case 1:
          return call(seen, [/lookup$/, { key: tag }]);
        default:
          return done(seen);
      }
    },
    says: (tag) => [new RegExp(`DONE[^|]*lookup[^|]*\\|[^]*value-of-${tag}`)],
    requests: 3,
  },
  {
    name: 'a web search, then one beside a command',
    model: names.unknown,
    searches: true,
    oncePerFormat: true,
    script(seen, tag) {
      switch (seen.results.length) {
        case 0:
          return call(seen, [/^web_search$/, { query: `first ${tag}` }]);
        case 1:
          return call(
            seen,
            [/^web_search$/, { query: `second ${tag}` }],
            [/exec_command$/, { cmd: `echo third-${tag}` }],
          );
        default:
          return done(seen);
      }
    },
    says: (tag) => [new RegExp(`DONE[^]*excerpt of first ${tag}[^]*excerpt of second ${tag}[^]*third-${tag}[^]*END`)],
    requests: 3,
  },
  {
    name: 'a conversation that is too long',
    model: names.unknown,
    script(seen, tag) {
      return seen.results.length === 0
        ? call(seen, [/exec_command$/, { cmd: `echo one-${tag}` }])
        : { type: 'overflow' };
    },
    says: () => [/ran out of room in the model's context window/],
    fails: true,
    requests: 2,
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

/** Reviews of calls that want to leave the sandbox. It asks the model for reviews only if a list of models that it is given has it. */
const judged = async (folder: string, command: string): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)(command, ['debug', 'models', '--bundled'], {
    env: { ...process.env, CODEX_HOME: folder },
    maxBuffer: 32 << 20,
  });
  const file = join(folder, 'models.json');
  await writeFile(file, stdout);
  return [
    `model_catalog_json = ${JSON.stringify(file)}`,
    'approvals_reviewer = "auto_review"',
    'approval_policy = "on-request"',
    'sandbox_mode = "workspace-write"',
  ];
};

/** Codex. Source: its documentation, "Configuration", "Non-interactive mode". */
export const codex: Agent = {
  name: 'Codex',
  command: 'codex',
  scenarios,
  async setUp({ home, work, gatewayUrl, commands }, { model, mcp, isJudged, args = [], env }, prompt) {
    const folder = join(home, '.codex');
    await mkdir(folder);
    const provider = {
      name: 'gateway',
      base_url: `${gatewayUrl}/v1`,
      env_key: 'GATEWAY_KEY',
      wire_api: 'responses',
      supports_websockets: false,
      // A stream that breaks is repeated once; what is refused again and again takes no longer for it.
      request_max_retries: 0,
      stream_max_retries: 1,
    };
    const lines = [
      ...(model ? [`model = ${JSON.stringify(model)}`] : []),
      'model_provider = "gateway"',
      ...(isJudged ? await judged(folder, join(commands, 'codex')) : []),
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.gateway]',
      ...Object.entries(provider).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
      ...(mcp ? ['[mcp_servers.demo]', 'command = "node"', `args = ${JSON.stringify([mcpServer, 'unions'])}`] : []),
    ];
    await writeFile(join(folder, 'config.toml'), lines.join('\n'));
    return {
      args: [
        ...['exec', '--skip-git-repo-check', '-C', work],
        ...(isJudged ? [] : ['--dangerously-bypass-approvals-and-sandbox']),
        ...args,
        prompt,
      ],
      env: { CODEX_HOME: folder, GATEWAY_KEY: 'dead-key', ...env },
    };
  },
};
