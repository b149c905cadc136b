import { claudeCode } from './rig/claude-code.ts';
import { testAgent } from './rig/test-agent.ts';

testAgent(claudeCode);
