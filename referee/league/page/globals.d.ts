// What the loader of viewer.html shares with the scripts around it.

declare function viewer(): void;
declare var replay: (key: string, data: string, found?: object) => void;
declare var trustedTypes: { createPolicy(name: string, rules: { createScriptURL(text: string): string }): { createScriptURL(text: string): any } } | undefined;
