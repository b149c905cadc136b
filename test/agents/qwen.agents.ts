import { qwen } from './rig/others.ts';
import { testAgent } from './rig/test-agent.ts';

testAgent(qwen);
