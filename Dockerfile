# The README's first command in a container: docker build -t rave-agents . && docker run --rm rave-agents
FROM python:3.12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /rave-agents
COPY . .
RUN pip install --no-cache-dir ".[openspiel,plot]"
CMD rave-agents match "hex(board_size=9)" "auto(simulations=500)" "mcts(simulations=500)" --games 20
