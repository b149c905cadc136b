import { type DemoRequest, type Tool, textOf, toolsOf } from './request.ts';

/**
 * The tools that the demo calls: those that `tool_choice` asks for, or that the user does ("call get_weather", "use the
 * tool", "call all tools"). Empty when it is to answer in words.
 */
export const chooseTools = (request: DemoRequest): readonly Tool[] => {
  const { messages, tool_choice: choice = 'auto', parallel_tool_calls: parallel } = request;
  const tools = allowedTools(request);
  const last = messages.at(-1);
  if (choice === 'none' || tools.length === 0 || !last) return [];
  const asked = last.role === 'user' ? askedTools(textOf(last), tools) : [];
  // With no other wish, a tool that ends the conversation goes before one that would be called again and again.
  const chosen =
    asked.length > 0 || !mustCall(choice) ? asked : [...tools.filter(endsConversation), ...tools].slice(0, 1);
  return parallel === false ? chosen.slice(0, 1) : chosen;
};

/** Whether a tool serves to end the conversation: its text is the answer. */
export const endsConversation = ({ function: { name } }: Tool): boolean => /^(exit|final|finish|done)/i.test(name);

type Choice = NonNullable<DemoRequest['tool_choice']>;

const allowedTools = (request: DemoRequest): readonly Tool[] => {
  const tools = toolsOf(request);
  const { tool_choice: choice } = request;
  if (choice === undefined || typeof choice === 'string') return tools;
  const names =
    choice.type === 'function' ? [choice.function.name] : choice.allowed_tools.tools.map((tool) => tool.function.name);
  return tools.filter((tool) => names.includes(tool.function.name));
};

const mustCall = (choice: Choice): boolean => {
  if (typeof choice === 'string') return choice === 'required';
  return choice.type === 'function' || choice.allowed_tools.mode === 'required';
};

const askedTools = (text: string, tools: readonly Tool[]): readonly Tool[] => {
  if (!/\b(call|use|run|invoke|try)\b/i.test(text)) return [];
  const named = tools.filter(({ function: { name } }) => containsWord(text, name));
  if (named.length > 0) return named;
  if (!/\b(tool|function)s?\b/i.test(text)) return [];
  return /\b(all|both|each|every)\b/i.test(text) ? tools : tools.slice(0, 1);
};

const containsWord = (text: string, word: string): boolean => {
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  const around = at < 0 ? 'x' : `${text[at - 1] ?? ''}${text[at + word.length] ?? ''}`;
  return !/\w/.test(around);
};
