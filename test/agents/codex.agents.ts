import { codex } from './rig/codex.ts';
import { testAgent } from './rig/test-agent.ts';

testAgent(codex);
