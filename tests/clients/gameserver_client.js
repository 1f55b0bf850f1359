// A client of the 2010 game server's protocol: builds a wall behind the hunter now and then, or walks away from it.
const net = require("net");

const port = Number(process.argv[2] ?? 23000);
const socket = net.connect(port, "127.0.0.1", () => socket.write(`join ${process.argv[3] ?? "node"}\r\n`));
let rest = "";
let role = "";
let walls = 0;

socket.on("data", (data) => {
  const lines = (rest + data).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    if (line.startsWith("ACCEPTED")) role = line.split(" ")[1];
    if (line.startsWith("GAMEOVER")) socket.end();
    const found = /^YOURTURN (\d+) H\((\d+), (\d+), (\d+), (\w\w)\), P\((\d+), (\d+), (\d+)\), W\[(.*)\]$/.exec(line);
    if (!found) continue;
    const [round, hx, hy, , , px, py] = found.slice(1).map(Number);
    if (role === "PREY") socket.write(`  ${py > hy ? "s" : "n"}${px > hx ? "e" : "w"}\r\n`);
    else if (round % 30 === 20) socket.write(`add ${++walls}(0,${hy}),( ${hx - 1} , ${hy})\r\n`);
    else socket.write(round % 30 === 25 && walls ? `Remove ${walls}\r\n` : "pass\r\n");
  }
});
