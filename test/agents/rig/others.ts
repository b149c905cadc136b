import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, type Scenario, toolLoop } from './agent.ts';

/*
 * Agents that `junctor run` directs to the gateway. Their settings here only keep them on this machine: without updates, telemetry, and
 * lists of models.
 */

const described = (command: string) => ({ command, description: 'Runs it' });

const loopOf = (tool: RegExp): Scenario => toolLoop(tool, described);

/** opencode. Source: its documentation, "CLI", "Environment variables"; the names in its program. */
export const opencode: Agent = {
  name: 'opencode',
  command: 'opencode',
  isRun: true,
  // Without a title of its own, a session asks the model for one.
  scenarios: [loopOf(/^bash$/)],
  async setUp({ destination }, { args = [], env }, prompt) {
    return {
      args: ['run', '--title', 'Looks', '--auto', '--model', `junctor/${destination}`, ...args, prompt],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_SHARE: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        ...env,
      },
    };
  },
};

/** GitHub Copilot CLI. Source: `copilot help environment`. */
export const copilot: Agent = {
  name: 'Copilot CLI',
  command: 'copilot',
  isRun: true,
  scenarios: [loopOf(/^bash$/)],
  async setUp({ home, destination }, { args = [], env }, prompt) {
    return {
      args: ['--allow-all-tools', ...args, '-p', prompt],
      env: {
        COPILOT_HOME: join(home, '.copilot'),
        COPILOT_MODEL: destination,
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
        ...env,
      },
    };
  },
};

/** Qwen Code. Source: its documentation, "Settings". */
export const qwen: Agent = {
  name: 'Qwen Code',
  command: 'qwen',
  isRun: true,
  scenarios: [loopOf(/^run_shell_command$/)],
  async setUp({ home, destination }, { args = [], env }, prompt) {
    const folder = join(home, '.qwen');
    await mkdir(folder);
    const settings = {
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    };
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings));
    return { args: ['--yolo', ...args, prompt], env: { OPENAI_MODEL: destination, ...env } };
  },
};
