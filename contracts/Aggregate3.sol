// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Many calls in one, with the selectors and answers of Multicall3: what stands at its canonical address on the
/// local chain. It keeps nothing and owns nothing.
contract Aggregate3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        uint256 count = calls.length;
        results = new Result[](count);
        for (uint256 index = 0; index < count; ++index) {
            Call3 calldata item = calls[index];
            (bool success, bytes memory returnData) = item.target.call(item.callData);
            require(success || item.allowFailure, "Multicall3: call failed");
            results[index] = Result(success, returnData);
        }
    }

    function getBlockNumber() external view returns (uint256 blockNumber) {
        return block.number;
    }

    function getCurrentBlockTimestamp() external view returns (uint256 timestamp) {
        return block.timestamp;
    }

    function getEthBalance(address account) external view returns (uint256 balance) {
        return account.balance;
    }

    function getBasefee() external view returns (uint256 basefee) {
        return block.basefee;
    }
}
